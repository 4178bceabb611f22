import Sqlite from 'better-sqlite3'
import { diskAdvice } from '../parts/disk-advice.ts'
import { reasonOf, withAdvice } from '../parts/reason.ts'
import { isDamage, isLocked, RESTORE_ADVICE } from './fault.ts'

const CACHE_KIB = 16 * 1024
/** At the start, no requests wait yet, so waiting for other processes does no harm. */
const OPENING_TIMEOUT_MS = 5_000
const LOCK_PAUSE_MS = 10
/** Later, waiting would block all requests: the engine tries again instead. */
const BUSY_TIMEOUT_MS = 100
const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024
/** 64 MB: the log becomes this long only if Litestream has stopped. */
const REPLICATED_CHECKPOINT_PAGES = 16_384

/** A connection of the driver. */
export type Client = Sqlite.Database

/** An object that holds a connection of this thread. */
export interface Connection {
  readonly $client: Client
}

/** A prepared statement. Its rows are arrays of values. */
export type Prepared = Sqlite.Statement<unknown[], unknown[]>

/** Opens the database file (or `:memory:`) for a server. `check` runs before requests may use it. */
export function openConnection(
  file: string,
  replicated: boolean,
  check: (client: Client) => void = () => {},
): Client {
  const client = connect(file)
  try {
    // Set first, because the following pragmas may have to wait for another writer.
    client.pragma(`busy_timeout = ${OPENING_TIMEOUT_MS}`)
    useWal(client)
    client.pragma('synchronous = FULL')
    client.pragma('foreign_keys = ON')
    client.pragma('trusted_schema = OFF')
    client.pragma(`cache_size = ${-CACHE_KIB}`)
    client.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`)
    if (replicated) client.pragma(`wal_autocheckpoint = ${REPLICATED_CHECKPOINT_PAGES}`)
    check(client)
    client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return client
  } catch (cause) {
    client.close()
    const reason = reasonOf(cause)
    const advice = isDamage(cause) ? RESTORE_ADVICE : diskAdvice(file, cause)
    throw new Error(`Cannot open the database ${file}: ${withAdvice(reason, advice)}`, { cause })
  }
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

/** Opens an existing file for reading, whatever its schema. A server may write to it meanwhile. */
export function openReadOnly(file: string): Client {
  return new Sqlite(file, { readonly: true, fileMustExist: true, timeout: OPENING_TIMEOUT_MS })
}

/** Opens a file as it is or creates an empty one. Does not wait for locks. */
export function openPlain(file: string): Client {
  return new Sqlite(file, { timeout: 0 })
}
