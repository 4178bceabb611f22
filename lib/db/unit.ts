import type { RunResult } from 'better-sqlite3'
import type { Db } from './open.ts'

/** A change that has been built but not run, such as `db.insert(…).values(…)`. */
export interface Statement {
  run(): RunResult
}

/**
 * Runs the statements in one transaction, in order: all of them or none. Where the first changes
 * no row, the rest are not run: so a limit is one conditional insert at the head of the list.
 * Returns whether the first changed something.
 */
export async function unit(
  db: Db,
  [first, ...rest]: [Statement, ...Statement[]],
): Promise<boolean> {
  return db.$client
    .transaction(() => {
      if (first.run().changes === 0) return false
      for (const statement of rest) statement.run()
      return true
    })
    .immediate()
}
