import { readdirSync, readFileSync } from 'node:fs'
import type { Client } from './connection.ts'

const MIGRATIONS = new URL('./migrations/', import.meta.url)

/**
 * Applies the SQL files that `user_version` does not count yet, in order of name, in one transaction.
 * It takes the write lock first, so only one of two starting processes migrates. Returns the names.
 */
export function migrate(client: Client): string[] {
  return client
    .transaction(() => {
      const names = listPending(client)
      for (const name of names) client.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
      client.pragma(`user_version = ${listMigrations().length}`)
      return names
    })
    .immediate()
}

/** Names of the migrations that the database lacks. Throws if a newer version wrote it. */
export function listPending(client: Client): string[] {
  const names = listMigrations()
  const applied = schemaNumber(client)
  if (applied <= names.length) return names.slice(applied)
  throw new Error(
    `its schema version is ${applied}, this release knows ${names.length}; use a newer release`,
  )
}

/** Number of migrations that were applied to the database. */
function schemaNumber(client: Client): number {
  return Number(client.pragma('user_version', { simple: true }))
}

function listMigrations(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
}
