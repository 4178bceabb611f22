import { setTimeout as sleep } from 'node:timers/promises'
import { reportOutages } from './report-outages.ts'

/** Between two attempts of `retry`. */
const PAUSE_MS = 100

/**
 * Calls `work` after `firstMs`, and again `intervalMs` after each call has ended. Passes errors to
 * `onError` as `reportOutages` does, and continues. Ends when it is disposed of. Does not keep the process
 * alive.
 */
export function repeat(
  intervalMs: number,
  work: () => unknown,
  onError: (error: unknown) => void,
  firstMs: number = intervalMs,
): Disposable {
  const attempts = reportOutages(onError)
  let timer: ReturnType<typeof setTimeout> | undefined
  let stopped = false
  const schedule = (waitMs: number) => {
    timer = setTimeout(run, waitMs)
    timer.unref()
  }
  const run = async () => {
    try {
      await work()
      if (!stopped) attempts.succeeded()
    } catch (error) {
      // After disposal, errors are expected: the work may use something that is closed.
      if (!stopped) attempts.failed(error)
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

/** Calls `work` until it succeeds. If it fails once `signal` has aborted, rejects with its error. */
export async function retry<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal,
): Promise<Result> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw error
    }
    await sleep(PAUSE_MS)
  }
}
