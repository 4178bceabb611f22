import type { Query } from '../parts/sql.ts'
import type { Db } from './open.ts'
import { createQueries, type Queries, type RunResult } from './queries.ts'

/** A statement that was built but not run, such as `db.insert(…).values(…)`. */
export interface Statement {
  toSQL(): Query
  run(): Promise<RunResult>
}

/**
 * Runs the statements in order in one transaction: all or none. If the first statement changes no
 * row, the others do not run, so a conditional insert at the head of the list enforces a limit.
 * Returns whether the first statement changed a row.
 */
export async function runInTransaction(
  { engine }: Db,
  [first, ...rest]: readonly [Statement, ...Statement[]],
): Promise<boolean> {
  return engine.runUnit([first.toSQL(), ...rest.map((statement) => statement.toSQL())])
}

/**
 * Runs `work` in one transaction, which is rolled back if `work` throws. All other statements wait until
 * then, so `work` must wait for nothing but its own queries.
 */
export async function transact<Result>(
  { engine }: Db,
  work: (queries: Queries) => Promise<Result>,
): Promise<Result> {
  return engine.transact((execute) => work(createQueries(execute)))
}
