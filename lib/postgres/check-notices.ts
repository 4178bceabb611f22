import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../parts/durations.ts'
import type { PgPool } from './connection.ts'

const CHANNEL = 'notice_check'
/** PostgreSQL itself delivers a notice within milliseconds. */
const LONGEST_MS = 10 * SECOND_MS

/**
 * Checks in the background whether notices of the database arrive, and calls `onMissing` if not. A pooler in
 * transaction mode swallows them: nodes then learn of changed keys only by asking, once a second.
 */
export function checkNotices(
  pool: PgPool,
  onMissing: () => void,
  longestMs = LONGEST_MS,
): AsyncDisposable & { readonly ended: Promise<void> } {
  const stopping = new AbortController()
  const check = async () => {
    const arrived = Promise.withResolvers<true>()
    let calls = 0
    const heard = () => {
      calls += 1
      // The first call reports that the connection now listens.
      if (calls > 1) arrived.resolve(true)
    }
    await using _listening = await pool.listen({ [CHANNEL]: heard })
    await pool.use((connection) => connection.query(`NOTIFY ${CHANNEL}`))
    const late = sleep(longestMs, false, { signal: stopping.signal, ref: false })
    if (!(await Promise.race([arrived.promise, late]))) onMissing()
  }
  // If the database is away, others report that.
  const ended = check().catch(() => {})
  return {
    ended,
    [Symbol.asyncDispose]: async () => {
      stopping.abort()
      await ended
    },
  }
}
