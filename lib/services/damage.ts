import { isDamage, RESTORE_ADVICE } from '../db/fault.ts'
import type { Log } from '../log.ts'

export interface Damage {
  /** Throws once the database has been found damaged: it will not mend by itself. */
  check(): void
}

/**
 * Watches for damage of the database that only use finds. Whatever fails comes to the log in the
 * end: the one that is returned passes all on, and says once what to do about the damage.
 */
export function watchForDamage(log: Log): { readonly log: Log; readonly damage: Damage } {
  let first: unknown
  const error: Log['error'] = (fields, message) => {
    log.error(fields, message)
    if (first !== undefined || !('err' in fields) || !isDamage(fields.err)) return
    first = fields.err
    log.error({}, `the database is damaged: ${RESTORE_ADVICE}`)
  }
  const check = () => {
    if (first !== undefined) throw first
  }
  return { log: { ...log, error }, damage: { check } }
}
