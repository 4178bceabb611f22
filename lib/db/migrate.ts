import { readdirSync, readFileSync } from 'node:fs'
import type { Client } from './open.ts'

const MIGRATIONS = new URL('./migrations/', import.meta.url)

/**
 * Applies the SQL files not yet counted by `user_version`, in the order of their names, all in one
 * transaction. It takes the write lock first, so that of two processes the second finds it done.
 * Returns the names of those that it has applied.
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

/** Names of the migrations that the database lacks. Throws where a newer version has written it. */
export function listPending(client: Client): string[] {
  const names = listMigrations()
  const applied = schemaNumber(client)
  if (applied <= names.length) return names.slice(applied)
  throw new Error(
    `its schema is number ${applied}, this version knows ${names.length}; use a newer version`,
  )
}

/** How many migrations the database has. */
function schemaNumber(client: Client): number {
  return Number(client.pragma('user_version', { simple: true }))
}

function listMigrations(): string[] {
  return readdirSync(MIGRATIONS)
    .filter((name) => name.endsWith('.sql'))
    .toSorted()
}
