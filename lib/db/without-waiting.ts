import type { Db } from './open.ts'

/** Runs `work`, which throws at once where another process has locked the database: to wait would stop all requests. */
export function withoutWaiting<Result>({ $client }: Db, work: () => Result): Result {
  const before = $client.pragma('busy_timeout', { simple: true })
  $client.pragma('busy_timeout = 0')
  try {
    return work()
  } finally {
    $client.pragma(`busy_timeout = ${before}`)
  }
}
