/** Where the file, its disk or another process is at fault, and no statement of ours. */
const FAULT =
  /^SQLITE_(BUSY|LOCKED|PROTOCOL|FULL|IOERR|READONLY|CANTOPEN|NOMEM|CORRUPT|NOTADB)(_|$)/
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)(_|$)/

/** What to do about a database that SQLite finds damaged. */
export const RESTORE_ADVICE =
  'keep the file and restore a copy: npm run restore -- ARCHIVE --overwrite, or the one of Litestream'

/** Whether the database cannot be used as it is now, be it for a moment or for good. */
export function isFault(error: unknown): boolean {
  return FAULT.test(codeOf(error))
}

/** Whether SQLite finds the database damaged. */
export function isDamage(error: unknown): boolean {
  return DAMAGE.test(codeOf(error))
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : ''
}
