import { commandText } from '../own-code.ts'
import { codeOf } from '../reason.ts'

/** Errors caused by the file, the disk or another process, not by our statements. */
const FAULT =
  /^SQLITE_(BUSY|LOCKED|PROTOCOL|FULL|IOERR|READONLY|CANTOPEN|NOMEM|CORRUPT|NOTADB)(_|$)/
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)(_|$)/

/** Advice for a damaged database. */
export const RESTORE_ADVICE = `keep the file and restore a copy: ${commandText('restore', 'ARCHIVE --overwrite')}, or the copy of Litestream`

/** Whether the database is unusable, temporarily or permanently. */
export function isFault(error: unknown): boolean {
  return FAULT.test(codeOf(error))
}

/** Whether a row with the same unique value exists. */
export function isTaken(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_CONSTRAINT_UNIQUE'
}

/** Whether the row would belong to a user who was deleted meanwhile. */
export function isOrphan(error: unknown): boolean {
  return codeOf(error) === 'SQLITE_CONSTRAINT_FOREIGNKEY'
}

/** Whether SQLite finds the database damaged. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.test(codeOf(error))
}

/** Whether another process holds the lock that the statement needs. */
export function isLocked(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}
