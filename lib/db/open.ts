import { statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { type Client, type Connection, openConnection, openReadOnly } from './connection.ts'
import { createEngine, type Engine, type LocalEngine } from './engine.ts'
import { RESTORE_ADVICE } from './fault.ts'
import { migrate } from './migrate.ts'
import { createQueries, type Queries } from './queries.ts'
import { health } from './tables.ts'

/** Reading a file of this size takes about 60 ms from the page cache and a second from a slow disk. */
const READ_WHOLE_BYTES = 64 * 1024 * 1024

/** All tables except the largest: telemetry, the audit log and the counts of days and operations. */
const SMALL_TABLES = `
  SELECT name FROM sqlite_schema
  WHERE type = 'table' AND name NOT LIKE 'rum\\_%' ESCAPE '\\'
    AND name NOT IN ('audit_log', 'usage_by_operation')`

/** A database of either kind. */
export type Db = Queries & { readonly engine: Engine }

/** A database whose file this thread has opened. */
export type SqliteDb = Db & Connection

/** A database file whose statements run in this thread. */
export type LocalDb = SqliteDb & { readonly engine: LocalEngine }

/**
 * Opens the database file (or `:memory:`) and migrates its schema. `replicated`: Litestream copies it
 * and checkpoints its write-ahead log.
 */
export function openDb(file: string, { replicated = false } = {}): LocalDb {
  refuseLoneLog(file)
  return createDb(
    openConnection(file, replicated, (client) => {
      checkIntegrity(client)
      migrate(client)
    }),
  )
}

/** Opens a current database file for reading. A server may write to it meanwhile. */
export function openDbToRead(file: string): LocalDb {
  return createDb(openReadOnly(file))
}

function createDb(client: Client): LocalDb {
  const engine = createEngine(client)
  return Object.assign(createQueries(engine.execute), { engine, $client: client })
}

/** Throws if only the log exists: SQLite would delete it, with the last writes, and create an empty database. */
function refuseLoneLog(file: string): void {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (sizeOf(file) > 0 || sizeOf(`${file}-wal`) === 0) return
  const reason = 'it is missing or empty, but its write-ahead log is not'
  throw new Error(`Cannot open the database ${file}: ${reason}; ${RESTORE_ADVICE}`)
}

/**
 * Moves the writes that the previous process left in the log into the database file. After a failed
 * fsync, pages of the log may exist only in the page cache of the system, and a later fsync may not
 * write them. Copying them does.
 */
export function checkpointWal({ $client }: Connection): void {
  $client.pragma('wal_checkpoint(PASSIVE)')
}

/** Writes one real row. Throws if the database cannot be written. */
export async function checkWrite(db: Db, now: number): Promise<void> {
  await db
    .insert(health)
    .values({ id: 1, checkedAt: now })
    .onConflictDoUpdate({ target: health.id, set: { checkedAt: now } })
    .run()
}

/**
 * Throws if pages of the database are damaged. In a large database it reads only the schema and the
 * small tables (users, keys, sites and so on); `npm run doctor` reads everything.
 */
function checkIntegrity(client: Client): void {
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
