import { setTimeout as sleep } from 'node:timers/promises'
import type { RunResult } from 'better-sqlite3'
import type { Db } from './open.ts'
import { withoutWaiting } from './without-waiting.ts'

/** A change that has been built but not run, such as `db.insert(…).values(…)`. */
export interface Statement {
  run(): RunResult
}

/** For about five seconds. */
const ATTEMPTS = 200
const PAUSE_MS = 25

/**
 * Runs the statements in one transaction, in order: all of them or none. Where the first changes
 * no row, the rest are not run: so a limit is one conditional insert at the head of the list.
 * Returns whether the first changed something.
 */
export async function unit(
  db: Db,
  [first, ...rest]: [Statement, ...Statement[]],
): Promise<boolean> {
  return transact(db, () => {
    if (first.run().changes === 0) return false
    for (const statement of rest) statement.run()
    return true
  })
}

/**
 * Runs `work` in one transaction. Where another process holds the lock, it is tried again for some
 * seconds, between which requests are answered.
 */
export async function transact<Result>(db: Db, work: () => Result): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return withoutWaiting(db, () => db.$client.transaction(work).immediate())
    } catch (error) {
      if (!isLocked(error) || attempt === ATTEMPTS) throw error
      await sleep(PAUSE_MS)
    }
  }
}

/** Whether another process holds the lock that the statement needs. */
export function isLocked(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY')
}
