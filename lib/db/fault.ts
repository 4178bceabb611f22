import { commandText } from '../parts/clone-or-package.ts'
import { codeOf } from '../parts/reason.ts'

/** Errors caused by the file, the disk or another process, not by our statements. */
const FAULT =
  /^SQLITE_(BUSY|LOCKED|PROTOCOL|FULL|IOERR|READONLY|CANTOPEN|NOMEM|CORRUPT|NOTADB)(_|$)/
/**
 * The same for PostgreSQL: lost connections, transactions given up for others, lack of resources, a server that
 * stops or is read-only, and its internal errors.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const POSTGRES_FAULT = /^(08|25006|40|53|57|58|XX)/
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)(_|$)/

/** What a disk that fails or has turned read-only makes SQLite report. */
const DISK_FAULT = /^(SQLITE_(IOERR|READONLY|CANTOPEN)(_|$)|EIO$)/

/** Advice for a damaged database. */
export const RESTORE_ADVICE = `keep the file, check the disk (dmesg), and restore a copy: ${commandText('restore', 'ARCHIVE --overwrite')}, or the copy of Litestream`

/** Whether the database is unusable, temporarily or permanently. */
export function isFault(error: unknown): boolean {
  return FAULT.test(codeOf(error)) || POSTGRES_FAULT.test(codeOf(error))
}

/** Whether a row with the same unique value exists. */
export function isTaken(error: unknown): boolean {
  return ['SQLITE_CONSTRAINT_UNIQUE', '23505'].includes(codeOf(error))
}

/** Whether the row would belong to a user who was deleted meanwhile. */
export function isOrphan(error: unknown): boolean {
  return ['SQLITE_CONSTRAINT_FOREIGNKEY', '23503'].includes(codeOf(error))
}

/** Whether SQLite finds the database damaged. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.test(codeOf(error))
}

/** Whether the disk may have failed to read or write. */
export function isDiskFault(error: unknown): boolean {
  return DISK_FAULT.test(codeOf(error))
}

/** Whether another process holds the lock that the statement needs. */
export function isLocked(error: unknown): boolean {
  return codeOf(error).startsWith('SQLITE_BUSY')
}
