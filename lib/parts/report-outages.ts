import { MINUTE_MS } from './durations.ts'
import type { Log } from './log/log.ts'
import { codeOf } from './reason.ts'

/** Call one of these after each attempt. */
export interface Attempts {
  failed(error: unknown): void
  succeeded(): void
}

const RECOVERED = 'RECOVERED'

/**
 * Reports repeated work to `onError`: at most one failure a minute, and the first success after a reported
 * failure. That success is passed as an error for which `isRecovery` is true, so that it reaches the log as the
 * failures do, even from other threads, and the log can say which failure is over.
 */
export function reportOutages(
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

/** Returns a log that writes recoveries, which `reportOutages` reports like errors, at level info. */
export function withRecoveries(log: Log): Log {
  const write = (level: 'warn' | 'error') => (fields: object, message: string) => {
    const { err, ...others }: { err?: unknown } = fields
    if (err instanceof Error && isRecovery(err)) {
      log.info({ ...others, reason: err.message }, `over: ${message}`)
    } else log[level](fields, message)
  }
  return { ...log, warn: write('warn'), error: write('error') }
}
