import { PGlite } from '@electric-sql/pglite'
import { NUMBER_TYPES, type PgConnection, type PgPool } from '../../../lib/postgres/connection.ts'
import { migratePg } from '../../../lib/postgres/migrate.ts'

/** Opens an empty PostgreSQL in this process, without the tables of the service. */
export async function openPglite(): Promise<PgPool> {
  const parsers = Object.fromEntries(Object.values(NUMBER_TYPES).map((id) => [id, Number]))
  const client = await PGlite.create({ parsers })
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
