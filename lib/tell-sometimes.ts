const MINUTE_MS = 60_000

/**
 * Returns what counts its calls, and tells how many there were: at the first one, and then at most
 * once a minute.
 */
export function tellSometimes(
  tell: (count: number) => void,
  now: () => number = () => performance.now(),
): () => void {
  let count = 0
  let toldAt = Number.NEGATIVE_INFINITY
  return () => {
    count += 1
    if (now() - toldAt < MINUTE_MS) return
    toldAt = now()
    tell(count)
    count = 0
  }
}
