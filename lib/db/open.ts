import { readdirSync, readFileSync } from 'node:fs'
import Sqlite from 'better-sqlite3'
import { type BetterSQLite3Database, drizzle } from 'drizzle-orm/better-sqlite3'

export type Db = BetterSQLite3Database & { readonly $client: Sqlite.Database }

const MIGRATIONS = new URL('./migrations/', import.meta.url)

const CACHE_KIB = 16 * 1024
/** The start waits for other processes. */
const OPENING_TIMEOUT_MS = 5_000
/** Later every wait stops all requests: who writes tries again instead, as `unit` does. */
const BUSY_TIMEOUT_MS = 100
const JOURNAL_SIZE_LIMIT = 64 * 1024 * 1024

/** Opens the database file (or `:memory:`), and brings its schema up to date. */
export function openDb(file: string): Db {
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
    migrate(client)
    client.pragma(`busy_timeout = ${BUSY_TIMEOUT_MS}`)
    return drizzle(client)
  } catch (cause) {
    client.close()
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Cannot open the database ${file}: ${reason}`, { cause })
  }
}

/**
 * Applies the SQL files not yet counted by `user_version`, in the order of their names, all in one
 * transaction. It takes the write lock first, so that of two processes the second finds it done.
 */
function migrate(client: Sqlite.Database): void {
  const names = readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
  client
    .transaction(() => {
      const applied = Number(client.pragma('user_version', { simple: true }))
      if (applied > names.length) {
        throw new Error(
          `its schema is number ${applied}, this version knows ${names.length}; use a newer version`,
        )
      }
      for (const name of names.slice(applied)) {
        client.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
      }
      client.pragma(`user_version = ${names.length}`)
    })
    .immediate()
}
