import { isDamage, isDiskFault, RESTORE_ADVICE } from '../db/fault.ts'
import { commandText } from '../parts/clone-or-package.ts'
import { MINUTE_MS } from '../parts/durations.ts'
import type { Log } from '../parts/log/log.ts'

const DISK_ADVICE = `the disk fails: SQLite cannot read what it has written. Check the disk (dmesg), restart, and run ${commandText('doctor')}; restore nothing before that`

/**
 * Watches for database damage that shows only in use. Every failure is logged, so the returned
 * log inspects the errors that it passes on. It logs once what to do about damage, or about a disk that fails:
 * what SQLite cannot read then may be intact. `now`: epoch milliseconds.
 */
export function watchForDamage(log: Log, now: () => number) {
  let damage: { readonly error: unknown; readonly at: number } | undefined
  let hasDiskFailed = false
  let advised = ''
  const advise = (advice: string) => {
    if (advised === advice) return
    advised = advice
    log.error({}, advice)
  }
  const error: Log['error'] = (fields, message) => {
    log.error(fields, message)
    if (!('err' in fields)) return
    const { err } = fields
    if (isDamage(err)) damage = { error: err, at: now() }
    else if (isDiskFault(err)) hasDiskFailed = true
    else return
    if (damage === undefined) return
    advise(hasDiskFailed ? DISK_ADVICE : `the database is damaged: ${RESTORE_ADVICE}`)
  }
  return {
    log: { ...log, error },
    /**
     * Throws once damage has been found, which does not go away by itself. If the disk has failed, throws only for
     * a minute: what it reports then may end with the fault.
     */
    checkDamage: () => {
      if (damage === undefined) return
      const isOver = hasDiskFailed && Math.abs(now() - damage.at) > MINUTE_MS
      if (!isOver) throw damage.error
    },
  }
}
