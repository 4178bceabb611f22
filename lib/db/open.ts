import { statSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { diskAdvice } from '../disk-advice.ts'
import { reasonOf, withAdvice } from '../reason.ts'
import { checkIntegrity } from './check-integrity.ts'
import type { Client } from './client.ts'
import { createEngine, type Engine } from './engine.ts'
import { isDamage, isLocked, RESTORE_ADVICE } from './fault.ts'
import { migrate } from './migrate.ts'
import { createQueries, type Queries } from './queries.ts'

export type Db = Queries & { readonly engine: Engine; readonly $client: Client }

const CACHE_KIB = 16 * 1024
/** At the start, waiting for other processes is fine. */
const OPENING_TIMEOUT_MS = 5_000
const LOCK_PAUSE_MS = 10
/** Later, waiting would block all requests: the engine tries again instead. */
const BUSY_TIMEOUT_MS = 100
const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024
/** 64 MB: the log becomes this long only if Litestream has stopped. */
const REPLICATED_CHECKPOINT_PAGES = 16_384

/**
 * Opens the database file (or `:memory:`) and migrates its schema. `replicated`: Litestream copies it
 * and checkpoints its write-ahead log.
 */
export function openDb(file: string, { replicated = false } = {}): Db {
  refuseLoneLog(file)
  const client = connect(file)
  try {
    // First: the following pragmas may have to wait for another writer.
    client.pragma(`busy_timeout = ${OPENING_TIMEOUT_MS}`)
    useWal(client)
    client.pragma('synchronous = FULL')
    client.pragma('foreign_keys = ON')
    client.pragma('trusted_schema = OFF')
    client.pragma(`cache_size = ${-CACHE_KIB}`)
    client.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`)
    if (replicated) client.pragma(`wal_autocheckpoint = ${REPLICATED_CHECKPOINT_PAGES}`)
    checkIntegrity(client)
    migrate(client)
    client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return createDb(client)
  } catch (cause) {
    client.close()
    const reason = reasonOf(cause)
    const advice = isDamage(cause) ? RESTORE_ADVICE : diskAdvice(file, cause)
    throw new Error(`Cannot open the database ${file}: ${withAdvice(reason, advice)}`, { cause })
  }
}

function createDb(client: Client): Db {
  const engine = createEngine(client)
  return Object.assign(createQueries(engine.execute), { engine, $client: client })
}

/** SQLite itself does not wait for another connection here: it reports the lock at once. */
function useWal(client: Client): void {
  const until = performance.now() + OPENING_TIMEOUT_MS
  for (;;) {
    try {
      client.pragma('journal_mode = WAL')
      return
    } catch (error) {
      if (!isLocked(error) || performance.now() > until) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_PAUSE_MS)
    }
  }
}

function connect(file: string): Client {
  try {
    return new Sqlite(file)
  } catch (cause) {
    const reason = withAdvice(reasonOf(cause), diskAdvice(file, cause))
    throw new Error(`Cannot open the database ${file}: ${reason}`, { cause })
  }
}

/** SQLite would create an empty database and delete the log, which holds the last writes. */
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
export function checkpointWal({ $client }: Db): void {
  $client.pragma('wal_checkpoint(PASSIVE)')
}

/** Opens an existing file for reading, whatever its schema. A server may write to it meanwhile. */
export function openReadOnly(file: string): Client {
  return new Sqlite(file, { readonly: true, fileMustExist: true, timeout: OPENING_TIMEOUT_MS })
}

/** Opens a file as it is or creates an empty one. Does not wait for locks. */
export function openPlain(file: string): Client {
  return new Sqlite(file, { timeout: 0 })
}
