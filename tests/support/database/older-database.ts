import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import Sqlite from 'better-sqlite3'

const MIGRATIONS = new URL('../../../lib/db/migrations/', import.meta.url)

/**
 * Makes a database of an earlier release, which knew the migration of this number, with the user `ada` and what
 * `rows` inserts. Returns its file.
 */
export function makeOlder(folder: string, number: number, rows: string): string {
  const file = join(folder, `${number}.db`)
  const client = new Sqlite(file)
  for (const name of readdirSync(MIGRATIONS).toSorted().slice(0, number)) {
    client.exec(readFileSync(new URL(name, MIGRATIONS), 'utf8'))
  }
  client.exec(
    `INSERT INTO users (id, email, plan, created_at) VALUES ('ada', 'a@example.com', 'free', 0)`,
  )
  client.exec(rows)
  client.pragma(`user_version = ${number}`)
  client.close()
  return file
}
