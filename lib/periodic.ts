/** Work that is done again and again until it is disposed of. */
export interface Periodic {
  [Symbol.dispose](): void
}

/**
 * Calls `work` every `intervalMs`, each time after the last call has ended, and first after
 * `firstMs`. What it throws goes to `onError`, and the next call comes all the same. Does not keep
 * the process alive.
 */
export function repeat(
  intervalMs: number,
  work: () => void | Promise<void>,
  onError: (error: unknown) => void,
  firstMs: number = intervalMs,
): Periodic {
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  const schedule = (waitMs: number) => {
    timer = setTimeout(run, waitMs)
    timer.unref()
  }
  const run = async () => {
    try {
      await work()
    } catch (error) {
      // What is cut off by the end is no trouble: what it worked on is closed.
      if (!stopped) onError(error)
    }
    if (!stopped) schedule(intervalMs)
  }
  schedule(firstMs)
  return {
    [Symbol.dispose]: () => {
      stopped = true
      clearTimeout(timer)
    },
  }
}
