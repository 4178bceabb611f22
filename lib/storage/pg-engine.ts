import type { Engine, Execute } from '../db/engine.ts'
import type { Db } from '../db/open.ts'
import { createQueries } from '../db/queries.ts'
import type { Outcome, Query } from '../parts/sql.ts'
import type { PgConnection, PgPool } from '../postgres/connection.ts'
import { inTransaction, inWrite } from '../postgres/transaction.ts'
import { type Translated, translate } from '../postgres/translate.ts'

/** More statements than the service has, although their texts vary with the number of parameters. */
const MAX_TRANSLATED = 500

/** The stores' database. */
export function createPgDb(pool: PgPool): Db {
  const engine = createPgEngine(pool)
  return Object.assign(createQueries(engine.execute), { engine })
}

/** Each of these is atomic by itself, so it takes no lock: visitors without an account cause them. */
const ALONE = /^\s*(insert into|update|delete from) "kept_answers"/i

/** Runs the stores' statements, which are in SQLite's SQL, on PostgreSQL. */
export function createPgEngine(pool: PgPool): Engine {
  const translated = cacheTranslations()
  const run = async (
    connection: PgConnection,
    { sql, params }: Query,
    only?: 'first row',
  ): Promise<Outcome> => {
    const { rows, changes } = await connection.query(translated(sql).text, params.map(storable))
    return { rows: only === undefined ? rows : rows.slice(0, 1), changes }
  }
  const transact = <Result>(work: (execute: Execute) => Promise<Result>): Promise<Result> =>
    inWrite(pool, (connection) => work((query, only) => run(connection, query, only)))
  return {
    dialect: 'postgres',
    execute: (query, only) => {
      const work = (connection: PgConnection) => run(connection, query, only)
      if (!translated(query.sql).isWrite) return pool.use(work)
      return ALONE.test(query.sql) ? inTransaction(pool, work) : inWrite(pool, work)
    },
    runUnit: ([first, ...rest]) =>
      transact(async (execute) => {
        if ((await execute(first)).changes === 0) return false
        for (const query of rest) await execute(query)
        return true
      }),
    transact,
  }
}

/** Replaces U+0000, which PostgreSQL's texts cannot contain. */
export function storable(value: unknown): unknown {
  return typeof value === 'string' && value.includes('\0')
    ? value.replaceAll('\0', '\ufffd')
    : value
}

function cacheTranslations() {
  const known = new Map<string, Translated>()
  return (sql: string): Translated => {
    const found = known.get(sql)
    if (found !== undefined) return found
    if (known.size === MAX_TRANSLATED) known.clear()
    const result = translate(sql)
    known.set(sql, result)
    return result
  }
}
