import { join } from 'node:path'
import { type Db, openDb } from '../../../lib/db/open.ts'
import { createQueries } from '../../../lib/db/queries.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { createPgEngine } from '../../../lib/postgres/engine.ts'
import { migratePg } from '../../../lib/postgres/migrate.ts'
import { openPgStorage } from '../../../lib/postgres/open-pg-storage.ts'
import type { ServiceOptions } from '../../../lib/services/base.ts'
import { putEmptyDatabase } from '../data-folder.ts'
import { EMPTY_ALL, openMigratedPglite } from './pglite.ts'
import { createDatabase, openTestPool } from './postgres-server.ts'

/** The database of a test's service. */
export interface TestDatabase {
  readonly openStorage?: NonNullable<ServiceOptions['openStorage']>
  /** A connection besides those of the service, as commands open one. */
  readonly connect: () => { readonly db: Db; readonly close: () => void }
  /** Called once the test needs the database no more. */
  readonly release: () => void | PromiseLike<void>
}

/**
 * `MERIDIAN_TEST_DATABASE` runs the tests of routes on PostgreSQL instead of SQLite: on one in the process if it
 * is `pglite`, else on the server with this URL.
 */
const CHOSEN = process.env['MERIDIAN_TEST_DATABASE']

/** Prepares an empty database; one of SQLite is in the data folder. `url`: the setting names one that exists. */
export async function makeTestDatabase(dataDir: string, url?: string): Promise<TestDatabase> {
  if (url !== undefined) return connectTo(url)
  if (CHOSEN === undefined) return makeFile(join(dataDir, 'app.db'))
  return CHOSEN === 'pglite' ? takePglite() : openServerDatabase(await createDatabase(CHOSEN))
}

function connectTo(url: string): TestDatabase {
  const pool = openTestPool(url)
  const { connect, release } = toTestDatabase(pool, () => pool[Symbol.asyncDispose]())
  return { connect, release }
}

function makeFile(file: string): TestDatabase {
  putEmptyDatabase(file)
  return {
    connect: () => {
      const db = openDb(file)
      return { db, close: () => db.$client.close() }
    },
    release: () => {},
  }
}

/** Opening one takes seconds: each is used again. */
const free: PgPool[] = []

async function takePglite(): Promise<TestDatabase> {
  const pool = free.pop() ?? (await openMigratedPglite())
  await pool.use((connection) => connection.runScript(EMPTY_ALL))
  return toTestDatabase(pool, () => {
    free.push(pool)
  })
}

/** Several services may use the database with this URL. */
export async function openServerDatabase(url: string): Promise<TestDatabase> {
  const pool = openTestPool(url)
  await migratePg(pool)
  return toTestDatabase(pool, () => pool[Symbol.asyncDispose]())
}

function toTestDatabase(pool: PgPool, release: TestDatabase['release']): TestDatabase {
  const engine = createPgEngine(pool)
  const db = Object.assign(createQueries(engine.execute), { engine })
  return {
    openStorage: ({ now, onError }) => openPgStorage({ pool, version: 'test', now, onError }),
    connect: () => ({ db, close: () => {} }),
    release,
  }
}
