import { isDamage, RESTORE_ADVICE } from '../db/fault.ts'
import type { Log } from '../parts/log/log.ts'

/**
 * Watches for database damage that shows only in use. Every failure is logged, so the returned
 * log inspects the errors that it passes on. It logs once what to do about damage.
 */
export function watchForDamage(log: Log) {
  let first: unknown
  const error: Log['error'] = (fields, message) => {
    log.error(fields, message)
    if (first !== undefined || !('err' in fields) || !isDamage(fields.err)) return
    first = fields.err
    log.error({}, `the database is damaged: ${RESTORE_ADVICE}`)
  }
  return {
    log: { ...log, error },
    /** Throws once damage has been found: it will not go away by itself. */
    checkDamage: () => {
      if (first !== undefined) throw first
    },
  }
}
