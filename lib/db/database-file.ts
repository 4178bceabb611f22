import { type Client, openPlain, openReadOnly } from './connection.ts'
import { listPending } from './migrate.ts'
import { openDb } from './open.ts'

/** These functions open a database file by its path. A server may keep writing to it meanwhile. */

const MAX_LINES = 10

/** Lists the damage that SQLite finds in the file, one line each; empty if it is sound. */
export function findDamage(file: string): string[] {
  return read(file, (client) => {
    const lines = client.prepare(`PRAGMA integrity_check(${MAX_LINES})`).pluck().all().map(String)
    const damage = lines.filter((line) => line !== 'ok')
    const orphans = client.prepare('SELECT "table", parent FROM pragma_foreign_key_check').raw()
    for (const row of orphans.iterate()) {
      if (damage.length === MAX_LINES) break
      const [table, parent] = Array.isArray(row) ? row : []
      damage.push(`a row of ${table} refers to a missing row of ${parent}`)
    }
    return damage
  })
}

/** Names of the migrations that the file lacks. Throws if a newer version wrote the file. */
export function pendingMigrations(file: string): string[] {
  return read(file, listPending)
}

/**
 * Applies the pending migrations to a copy at `copy`, which stays there. Returns their names. Throws
 * if a migration fails or damages the database.
 */
export function tryMigrations(file: string, copy: string): string[] {
  const pending = pendingMigrations(file)
  if (pending.length === 0) return []
  copyDatabase(file, copy)
  openDb(copy).$client.close()
  const [damage] = findDamage(copy)
  if (damage === undefined) return pending
  throw new Error(`The migrations would damage the database: ${damage}`)
}

/** Writes a compact snapshot of the database to a new file. Throws if the database is damaged. */
export function copyDatabase(from: string, to: string): void {
  read(from, (client) => client.prepare('VACUUM INTO ?').run(to))
}

/** Overwrites the kept answers, which contain new keys: a backup holds what decrypts them, and stays for long. */
export function eraseKeptAnswers(file: string): void {
  const client = openPlain(file)
  try {
    client.pragma('secure_delete = ON')
    const table = client.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'kept_answers'").get()
    if (table !== undefined) client.exec('DELETE FROM kept_answers')
  } finally {
    client.close()
  }
}

/**
 * Moves the whole write-ahead log into the database file, which is then complete by itself. Changes
 * nothing if the file is damaged.
 */
export function checkpointFile(file: string): void {
  const client = openPlain(file)
  try {
    client.pragma('wal_checkpoint(TRUNCATE)')
  } catch {
    // SQLite does not change a file that it cannot read.
  } finally {
    client.close()
  }
}

/** Time of the latest recorded activity in epoch milliseconds; 0 if there is none. */
export function latestTime(file: string): number {
  return read(file, (client) =>
    Math.max(
      ...['SELECT max(created_at) FROM audit_log', 'SELECT max(checked_at) FROM health'].map(
        (sql) => Number(client.prepare(sql).pluck().get()),
      ),
    ),
  )
}

function read<Result>(file: string, work: (client: Client) => Result): Result {
  const client = openReadOnly(file)
  try {
    return work(client)
  } finally {
    client.close()
  }
}
