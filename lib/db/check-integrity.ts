import Sqlite from 'better-sqlite3'
import type { Client } from './client.ts'

/** Reading a file of this size takes about 60 ms from the page cache and a second from a slow disk. */
const READ_WHOLE_BYTES = 64 * 1024 * 1024

/** All tables except the largest: telemetry, the audit log and the counts of days and operations. */
const SMALL_TABLES = `
  SELECT name FROM sqlite_schema
  WHERE type = 'table' AND name NOT LIKE 'rum\\_%' ESCAPE '\\'
    AND name NOT IN ('audit_log', 'usage_by_operation')`

/**
 * Throws if pages of the database are damaged. In a large database it reads only the schema and the
 * small tables (users, keys, sites and so on); `npm run doctor` reads everything.
 */
export function checkIntegrity(client: Client): void {
  for (const check of checksOf(client)) {
    const found = String(client.pragma(check, { simple: true }))
    if (found !== 'ok') throw new Sqlite.SqliteError(found.replaceAll('\n', ' '), 'SQLITE_CORRUPT')
  }
}

function checksOf(client: Client): string[] {
  if (sizeOf(client) <= READ_WHOLE_BYTES) return ['quick_check(1)']
  const names = client.prepare<[], string>(SMALL_TABLES).pluck().all()
  return names.map((name) => `quick_check(${name})`)
}

function sizeOf(client: Client): number {
  const read = (name: string) => Number(client.pragma(name, { simple: true }))
  return read('page_count') * read('page_size')
}
