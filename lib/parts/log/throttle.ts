import { MINUTE_MS } from '../durations.ts'

/**
 * Returns a function that counts its calls and passes the count to `report`: at the first call, and
 * then at most once a minute.
 */
export function throttle(
  report: (count: number) => void,
  now: () => number = () => performance.now(),
): () => void {
  let count = 0
  let reportedAt = Number.NEGATIVE_INFINITY
  return () => {
    count += 1
    if (now() - reportedAt < MINUTE_MS) return
    reportedAt = now()
    report(count)
    count = 0
  }
}
