import { copyFileSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { insertUser, newUser } from '../../lib/accounts/users.ts'
import { makeDataDir } from '../../lib/config/data-dir.ts'
import { openSecrets, type Secrets } from '../../lib/config/secrets.ts'
import { type Client, openPlain } from '../../lib/db/connection.ts'
import { openDb } from '../../lib/db/open.ts'
import { runInTransaction } from '../../lib/db/transaction.ts'
import { processFolder } from './temp-folder.ts'

export interface DataFolder {
  readonly dataDir: string
  readonly database: string
  readonly secrets: Secrets
}

/** Creates a data folder in `parent` with one user, as a server leaves it. */
export async function makeDataFolder(parent: string, email = 'ada@example.com') {
  const dataDir = join(mkdtempSync(join(parent, 'data-')), 'data')
  makeDataDir(dataDir)
  const database = join(dataDir, 'app.db')
  putEmptyDatabase(database)
  const db = openDb(database)
  await runInTransaction(db, [insertUser(db, newUser({ email, plan: 'free', now: 1 }))])
  db.$client.close()
  return { dataDir, database, secrets: openSecrets(dataDir) }
}

let migrated: string | undefined

/**
 * Creates a database with all tables, made once per process: migrating takes as long as the rest of the
 * start of a service.
 */
export function putEmptyDatabase(path: string): void {
  if (migrated === undefined) {
    migrated = join(processFolder(), 'app.db')
    openDb(migrated).$client.close()
  }
  copyFileSync(migrated, path)
}

/** Creates a database of an old version: with only the first `count` migrations. */
export function makeOldDatabase(path: string, count: number): void {
  const migrations = new URL('../../lib/db/migrations/', import.meta.url)
  const names = readdirSync(migrations).toSorted().slice(0, count)
  const client = openPlain(path)
  for (const name of names) client.exec(readFileSync(new URL(name, migrations), 'utf8'))
  client.pragma(`user_version = ${count}`)
  client.close()
}

/** E-mail addresses of the users in a database file. */
export function emailsIn(database: string): unknown[] {
  return withClient(database, (client) =>
    client.prepare('SELECT email FROM users ORDER BY email').pluck().all(),
  )
}

/** Opens a database file for `work` and closes it afterwards. */
export function withClient<Result>(database: string, work: (client: Client) => Result): Result {
  const { $client } = openDb(database)
  try {
    return work($client)
  } finally {
    $client.close()
  }
}
