import type { Db } from './open.ts'

/** Does `work`, which waits at most `ms` for another process that writes, and then throws. */
export function withPatience<Result>(db: Db, ms: number, work: () => Result): Result {
  const usual = db.$client.pragma('busy_timeout', { simple: true })
  db.$client.pragma(`busy_timeout = ${ms}`)
  try {
    return work()
  } finally {
    db.$client.pragma(`busy_timeout = ${usual}`)
  }
}
