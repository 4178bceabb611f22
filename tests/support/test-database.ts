import { join } from 'node:path'
import { type Db, openDb } from '../../lib/db/open.ts'
import { createQueries } from '../../lib/db/queries.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { createPgEngine } from '../../lib/postgres/engine.ts'
import { openPgStorage } from '../../lib/postgres/open-pg-storage.ts'
import type { ServiceOptions } from '../../lib/services/base.ts'
import { putEmptyDatabase } from './data-folder.ts'
import { openMigratedPglite } from './pglite.ts'

/** The database of a test's service. */
export interface TestDatabase {
  readonly openStorage?: NonNullable<ServiceOptions['openStorage']>
  /** A connection besides those of the service, as commands open one. */
  readonly connect: () => { readonly db: Db; readonly close: () => void }
  /** Called once the test needs the database no more. */
  readonly release: () => void
}

/** `MERIDIAN_TEST_DATABASE=pglite` runs the tests of routes on PostgreSQL instead of SQLite. */
export const ON_POSTGRES = process.env['MERIDIAN_TEST_DATABASE'] === 'pglite'

/** Prepares an empty database; one of SQLite is in the data folder. */
export function makeTestDatabase(dataDir: string): Promise<TestDatabase> | TestDatabase {
  return ON_POSTGRES ? takePglite() : makeFile(join(dataDir, 'app.db'))
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
  const engine = createPgEngine(pool)
  const db = Object.assign(createQueries(engine.execute), { engine })
  return {
    openStorage: ({ now, onError }) => openPgStorage({ pool, version: 'test', now, onError }),
    connect: () => ({ db, close: () => {} }),
    release: () => {
      free.push(pool)
    },
  }
}

const EMPTY_ALL = `DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version'
  LOOP
    EXECUTE format('TRUNCATE %I RESTART IDENTITY CASCADE', name);
  END LOOP;
END $$`
