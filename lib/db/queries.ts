import { type BaseSQLiteDatabase, drizzle } from './drizzle.ts'
import type { Execute } from './engine.ts'

/** What a statement without rows returns. */
export interface RunResult {
  readonly changes: number
}

/** drizzle's query builder, whose queries are promises. `transact` opens a transaction. */
export type Queries = Omit<BaseSQLiteDatabase<'async', RunResult>, 'transaction'> & {
  /** Runs a statement that is written in SQL. */
  readonly execute: Execute
}

/** Builds queries that `execute` runs. */
export function createQueries(execute: Execute): Queries {
  const queries = drizzle(async (sql, params, method) => {
    if (method !== 'get') return execute({ sql, params })
    const { rows, changes } = await execute({ sql, params }, 'first row')
    // Without a first row, drizzle wants undefined.
    return { rows: rows[0] as unknown[], changes }
  })
  // safe: `run` returns what `execute` does
  return Object.assign(queries as unknown as Queries, { execute })
}
