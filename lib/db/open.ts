import { statSync } from 'node:fs'
import { checkIntegrity } from './check-integrity.ts'
import type { Client, Connection } from './client.ts'
import { openConnection, openReadOnly } from './connection.ts'
import { createEngine, type Engine, type LocalEngine } from './engine.ts'
import { RESTORE_ADVICE } from './fault.ts'
import { migrate } from './migrate.ts'
import { createQueries, type Queries } from './queries.ts'

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
