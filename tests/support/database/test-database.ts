import { join } from 'node:path'
import { type Db, openDb } from '../../../lib/db/open.ts'
import { createQueries } from '../../../lib/db/queries.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { createPgEngine } from '../../../lib/postgres/engine.ts'
import { migratePg } from '../../../lib/postgres/migrate.ts'
import { openPgStorage } from '../../../lib/postgres/open-pg-storage.ts'
import type { ServiceOptions } from '../../../lib/services/base.ts'
import { putEmptyDatabase } from '../data-folder.ts'
import { openMigratedPglite } from './pglite.ts'
import { createDatabase, openTestPool } from './postgres-server.ts'

/** The database of a test's service. */
export interface TestDatabase {
  readonly openStorage?: NonNullable<ServiceOptions['openStorage']>
  /** A connection besides those of the service, as commands open one. */
  readonly connect: () => { readonly db: Db; readonly close: () => void }
  /** Called once the test needs the database no more. */
  readonly release: () => void | Promise<void>
}

/**
 * `MERIDIAN_TEST_DATABASE` runs the tests of routes on PostgreSQL instead of SQLite: on one in the process if it
 * is `pglite`, else on the server with this URL.
 */
const CHOSEN = process.env['MERIDIAN_TEST_DATABASE']

/** Prepares an empty database; one of SQLite is in the data folder. */
export async function makeTestDatabase(dataDir: string): Promise<TestDatabase> {
  if (CHOSEN === undefined) return makeFile(join(dataDir, 'app.db'))
  return CHOSEN === 'pglite' ? takePglite() : openServerDatabase(await createDatabase(CHOSEN))
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

const EMPTY_ALL = `DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version'
  LOOP
    EXECUTE format('TRUNCATE %I RESTART IDENTITY CASCADE', name);
  END LOOP;
END $$`

/** Several services may use the database with this URL. */
export async function openServerDatabase(url: string): Promise<TestDatabase> {
  const pool = openTestPool(url)
  await migratePg(pool)
  return toTestDatabase(pool, async () => {
    await pool[Symbol.asyncDispose]()
  })
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
