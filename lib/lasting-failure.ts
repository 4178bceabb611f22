import { MINUTE_MS } from './durations.ts'
import { codeOf } from './reason.ts'

/** Hears whether each attempt has succeeded. */
export interface Attempts {
  failed(error: unknown): void
  succeeded(): void
}

const RECOVERED = 'RECOVERED'

/**
 * Reports work that is tried again and again to `onError`: the first failure, at most one more each minute
 * while it fails, and the first success after a reported failure, for which `isRecovery` is true. It comes
 * the same way as the failures, also from other threads, so that the log can say which of them is over.
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

/** Whether this is the news that work succeeds again, and not an error. */
export function isRecovery(error: unknown): boolean {
  return codeOf(error) === RECOVERED
}
