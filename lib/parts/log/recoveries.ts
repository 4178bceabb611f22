import { isRecovery } from '../report-outages.ts'
import type { Log } from './log.ts'

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
