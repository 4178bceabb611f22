import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { PGlite } from '@electric-sql/pglite'
import { NUMBER_TYPES, type PgConnection, type PgPool } from '../../../lib/postgres/connection.ts'
import { migratePg } from '../../../lib/postgres/migrate.ts'

const MODULES = new URL('../../../node_modules/', import.meta.url)

/** Opens an empty PostgreSQL in this process, without the tables of the service. */
export async function openPglite(): Promise<PgPool> {
  const parsers = Object.fromEntries(Object.values(NUMBER_TYPES).map((id) => [id, Number]))
  const client = await PGlite.create({ parsers, loadDataDir: await emptyDataDir() })
  const connection: PgConnection = {
    query: async (text, params = []) => {
      const { rows, affectedRows = 0 } = await client.query<unknown[]>(text, [...params], {
        rowMode: 'array',
      })
      return { rows, changes: affectedRows }
    },
    runScript: async (sql) => {
      await client.exec(sql)
    },
  }
  /** There is only one connection: it is lent to one caller after another. */
  let last: Promise<unknown> = Promise.resolve()
  return {
    use: (work) => {
      const result = last.then(() => work(connection))
      last = result.catch(() => {})
      return result
    },
    listen: async (channels) => {
      const stack = new AsyncDisposableStack()
      for (const [channel, heard] of Object.entries(channels)) {
        const stop = await client.listen(channel, heard)
        stack.defer(() => stop())
      }
      return stack
    },
    [Symbol.asyncDispose]: () => client.close(),
  }
}

/**
 * Returns the data of an empty PostgreSQL, kept in a file for each version of PGlite: making them takes
 * four times as long as loading them.
 */
async function emptyDataDir(): Promise<Blob> {
  const about = readFileSync(new URL('@electric-sql/pglite/package.json', MODULES), 'utf8')
  const folder = fileURLToPath(new URL('.cache/pglite/', MODULES))
  const file = `${folder}${JSON.parse(about).version}.tar`
  if (!existsSync(file)) {
    await using made = await PGlite.create()
    const data = await made.dumpDataDir('none')
    mkdirSync(folder, { recursive: true })
    // Renames the finished file, so that another process never reads half of it.
    const partial = `${file}.${process.pid}`
    writeFileSync(partial, await data.bytes())
    renameSync(partial, file)
  }
  return new Blob([readFileSync(file)])
}

/** Opens a PostgreSQL in this process, with the tables of the service. */
export async function openMigratedPglite(): Promise<PgPool> {
  const pool = await openPglite()
  await migratePg(pool)
  return pool
}

/** Empties all tables of the service. */
export const EMPTY_ALL = `DO $$
DECLARE name text;
BEGIN
  FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' AND tablename <> 'schema_version'
  LOOP
    EXECUTE format('TRUNCATE %I RESTART IDENTITY CASCADE', name);
  END LOOP;
END $$`
