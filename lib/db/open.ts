import { statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { checkSound } from './check-sound.ts'
import { type BetterSQLite3Database, drizzle } from './drizzle.ts'
import { isDamage, RESTORE_ADVICE } from './fault.ts'
import { migrate } from './migrate.ts'

/** A connection as the driver gives it. */
export type Client = Sqlite.Database

export type Db = BetterSQLite3Database & { readonly $client: Client }

export interface OpenDbOptions {
  /** Whether another process copies the database and moves the write-ahead log into it. */
  readonly replicated?: boolean
}

const CACHE_KIB = 16 * 1024
/** The start waits for other processes. */
const OPENING_TIMEOUT_MS = 5_000
/** Later every wait stops all requests: who writes tries again instead, as `unit` does. */
const BUSY_TIMEOUT_MS = 100
const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024
/** Only where the replicating process has stopped does the log become so long: 64 MB. */
const REPLICATED_CHECKPOINT_PAGES = 16_384

/** Opens the database file (or `:memory:`), and brings its schema up to date. */
export function openDb(file: string, { replicated = false }: OpenDbOptions = {}): Db {
  refuseLoneLog(file)
  const client = new Sqlite(file)
  try {
    // First, since the others may have to wait for a writer.
    client.pragma(`busy_timeout = ${OPENING_TIMEOUT_MS}`)
    client.pragma('journal_mode = WAL')
    client.pragma('synchronous = FULL')
    client.pragma('foreign_keys = ON')
    client.pragma('trusted_schema = OFF')
    client.pragma(`cache_size = ${-CACHE_KIB}`)
    client.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`)
    if (replicated) client.pragma(`wal_autocheckpoint = ${REPLICATED_CHECKPOINT_PAGES}`)
    checkSound(client)
    migrate(client)
    client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return drizzle(client)
  } catch (cause) {
    client.close()
    const reason = cause instanceof Error ? cause.message : String(cause)
    const advice = isDamage(cause) ? `; ${RESTORE_ADVICE}` : ''
    throw new Error(`Cannot open the database ${file}: ${reason}${advice}`, { cause })
  }
}

/** SQLite would make an empty database of it, and delete the log, which holds the last writes. */
function refuseLoneLog(file: string): void {
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (sizeOf(file) > 0 || sizeOf(`${file}-wal`) === 0) return
  const reason = 'it is missing or empty, but its write-ahead log is not'
  throw new Error(`Cannot open the database ${file}: ${reason}; ${RESTORE_ADVICE}`)
}

/** Opens a file that is there for reading, whatever its schema. A server may write it meanwhile. */
export function openReadOnly(file: string): Client {
  return new Sqlite(file, { readonly: true, fileMustExist: true, timeout: OPENING_TIMEOUT_MS })
}

/** Opens a file as it is, and makes an empty one where none is. What is locked is not waited for. */
export function openPlain(file: string): Client {
  return new Sqlite(file, { timeout: 0 })
}
