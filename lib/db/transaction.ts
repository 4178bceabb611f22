import { setTimeout as sleep } from 'node:timers/promises'
import type { RunResult } from 'better-sqlite3'
import { isLocked } from './fault.ts'
import type { Db } from './open.ts'

/** A statement that was built but not run, such as `db.insert(…).values(…)`. */
export interface Statement {
  run(): RunResult
}

/** 200 attempts with pauses of 25 ms: about five seconds. */
const ATTEMPTS = 200
const PAUSE_MS = 25

/**
 * Runs the statements in order in one transaction: all or none. If the first statement changes no
 * row, the others do not run, so a conditional insert at the head of the list enforces a limit.
 * Returns whether the first statement changed a row.
 */
export async function runInTransaction(
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
 * Runs `work` in one transaction. If another process holds the lock, retries for some seconds;
 * requests are answered between the attempts.
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

/** Runs `work` without waiting for locks: it throws at once if another process holds one. */
export function withoutWaiting<Result>({ $client }: Db, work: () => Result): Result {
  const before = $client.pragma('busy_timeout', { simple: true })
  $client.pragma('busy_timeout = 0')
  try {
    return work()
  } finally {
    $client.pragma(`busy_timeout = ${before}`)
  }
}
