import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { Client } from '../../../lib/db/connection.ts'
import { type Db, openDb } from '../../../lib/db/open.ts'
import { createQueries } from '../../../lib/db/queries.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { migratePg } from '../../../lib/postgres/migrate.ts'
import type { ServiceOptions } from '../../../lib/services/foundation.ts'
import type { Services } from '../../../lib/services/services.ts'
import { openPgStorage } from '../../../lib/storage/open-pg-storage.ts'
import { createPgEngine } from '../../../lib/storage/pg-engine.ts'
import { putEmptyDatabase } from '../data-folder.ts'
import { EMPTY_ALL, openMigratedPglite } from './pglite.ts'
import { createDatabase, openTestPool } from './postgres-server.ts'

/** The database of a test's service. */
export interface TestDatabase {
  readonly openStorage?: NonNullable<ServiceOptions['openStorage']>
  /** A connection besides those of the service, as commands open one. */
  readonly connect: () => { readonly db: Db; readonly close: () => void }
  /** Makes all writes of the service fail, or no longer. */
  readonly setReadOnly: (services: Pick<Services, 'db'>, isReadOnly: boolean) => void
  /** Called once the test needs the database no more. */
  readonly release: () => void | PromiseLike<void>
}

/**
 * `MERIDIAN_TEST_DATABASE` runs the tests of routes on PostgreSQL instead of SQLite: on one in the process if it
 * is `pglite`, else on the server with this URL.
 */
const CHOSEN = process.env['MERIDIAN_TEST_DATABASE']

export const ON_POSTGRES = CHOSEN !== undefined

/** An option of tests that are about SQLite, with the reason: they do not run on PostgreSQL. */
export function onlyOnSqlite(reason: string): { readonly skip: string | false } {
  return { skip: ON_POSTGRES && reason }
}

/** The connection of the service to SQLite. Throws on PostgreSQL. */
export function clientOf({ db }: Pick<Services, 'db'>): Client {
  assert.ok('$client' in db)
  // safe: only a database file has a client
  return db.$client as Client
}

/** Prepares an empty database; one of SQLite is in the data folder. `url`: the setting names one that exists. */
export async function makeTestDatabase(dataDir: string, url?: string): Promise<TestDatabase> {
  if (url !== undefined) return connectTo(url)
  if (CHOSEN === undefined) return makeFile(join(dataDir, 'app.db'))
  return CHOSEN === 'pglite' ? takePglite() : takeDatabase(CHOSEN)
}

function connectTo(url: string): TestDatabase {
  const pool = openTestPool(url)
  const { connect, release } = toTestDatabase(pool, () => pool[Symbol.asyncDispose]())
  const setReadOnly = () => assert.fail('the service opens its own connections')
  return { connect, release, setReadOnly }
}

function makeFile(file: string): TestDatabase {
  putEmptyDatabase(file)
  return {
    connect: () => {
      const db = openDb(file)
      return { db, close: () => db.$client.close() }
    },
    setReadOnly: (services, isReadOnly) => {
      clientOf(services).pragma(`query_only = ${isReadOnly ? 'ON' : 'OFF'}`)
    },
    release: () => {},
  }
}

/** Opening one takes seconds: each is used again. */
const free: PgPool[] = []

async function takePglite(): Promise<TestDatabase> {
  const pool = free.pop() ?? (await openMigratedPglite())
  await pool.use((connection) => connection.runScript(EMPTY_ALL))
  let isChanged = false
  const onQuery = (sql: string) => {
    isChanged ||= CHANGES_SCHEMA.test(sql)
  }
  return toTestDatabase(watch(pool, onQuery), async () => {
    if (isChanged) await pool[Symbol.asyncDispose]()
    else free.push(pool)
  })
}

const CHANGES_SCHEMA = /^\s*(create|alter|drop) /i

/** Calls `onQuery` with the text of each statement. */
function watch(pool: PgPool, onQuery: (sql: string) => void): PgPool {
  return {
    ...pool,
    use: (work) =>
      pool.use((connection) =>
        work({
          ...connection,
          query: (text, params) => {
            onQuery(text)
            return connection.query(text, params)
          },
        }),
      ),
  }
}

/** Several services may use the database with this URL. */
export async function openServerDatabase(url: string): Promise<TestDatabase> {
  const pool = openTestPool(url)
  await migratePg(pool)
  return toTestDatabase(pool, () => pool[Symbol.asyncDispose]())
}

/** The name of a database with all tables: a copy takes less time than to make them. */
let template: Promise<string> | undefined

async function makeTemplate(server: string): Promise<string> {
  const url = await createDatabase(server)
  await using pool = openTestPool(url)
  await migratePg(pool)
  return new URL(url).pathname.slice(1)
}

/** Makes a database of its own on the server. */
async function takeDatabase(server: string): Promise<TestDatabase> {
  template ??= makeTemplate(server)
  const pool = openTestPool(await createDatabase(server, await template))
  return toTestDatabase(pool, () => pool[Symbol.asyncDispose]())
}

function toTestDatabase(pool: PgPool, release: TestDatabase['release']): TestDatabase {
  const engine = createPgEngine(pool)
  const db = Object.assign(createQueries(engine.execute), { engine })
  const { ofService, setReadOnly } = makeSwitch(pool)
  return {
    openStorage: ({ now, onError }) =>
      openPgStorage({ pool: ofService, version: 'test', now, onError }),
    connect: () => ({ db, close: () => {} }),
    setReadOnly: (_services, isReadOnly) => setReadOnly(isReadOnly),
    release,
  }
}

/** A pool whose connections can be made to refuse writes. Until then, it is the given one. */
function makeSwitch(pool: PgPool) {
  let isReadOnly = false
  return {
    setReadOnly: (now: boolean) => {
      isReadOnly = now
    },
    ofService: {
      ...pool,
      use: (work) =>
        pool.use(async (connection) => {
          if (!isReadOnly) return work(connection)
          await connection.query('SET default_transaction_read_only = on')
          try {
            return await work(connection)
          } finally {
            await connection.query('SET default_transaction_read_only = off')
          }
        }),
    } satisfies PgPool,
  }
}
