import { MINUTE_MS } from './durations.ts'
import { codeOf } from './reason.ts'

/** Takes note whether each attempt has succeeded. */
export interface Attempts {
  failed(error: unknown): void
  succeeded(): void
}

const RECOVERED = 'RECOVERED'

/**
 * Reports repeated work to `onError`: at most one failure a minute, and the first success after a reported
 * failure. That success comes as an error for which `isRecovery` is true. So it takes the same way as the
 * failures, even between threads, and the log can say which failure is over.
 */
export function reportAttempts(
  onError: (error: unknown) => void,
  now: () => number = () => performance.now(),
): Attempts {
  let failures = 0
  let isReported = false
  let reportedAt = Number.NEGATIVE_INFINITY
  return {
    failed: (error) => {
      failures += 1
      if (now() - reportedAt < MINUTE_MS) return
      reportedAt = now()
      isReported = true
      onError(error)
    },
    succeeded: () => {
      if (isReported) onError(recoveryAfter(failures))
      failures = 0
      isReported = false
    },
  }
}

function recoveryAfter(failures: number): Error {
  const text = failures === 1 ? 'it had failed once' : `it had failed ${failures} times`
  return Object.assign(new Error(text), { code: RECOVERED })
}

/** Whether `error` reports that work succeeds again. */
export function isRecovery(error: unknown): boolean {
  return codeOf(error) === RECOVERED
}
