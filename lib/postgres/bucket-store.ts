import { MINUTE_MS } from '../durations.ts'
import type { BucketStore } from '../limits/bucket-store.ts'
import type { PgPool } from './connection.ts'

/** Buckets that refill in a minute are full after two. */
const KEPT_MS = 2 * MINUTE_MS

/**
 * Buckets of all nodes. They refill by the clock of the database, because the clocks of nodes differ; or by
 * `now`, if that is a test's clock, which all its nodes share.
 */
export function createPgBucketStore(pool: PgPool, now: () => number) {
  let nodes = 1
  const run = (sql: string, params: readonly unknown[]) =>
    pool.use((connection) => connection.query(sql, params))
  /** null: that of the database. */
  const time = () => (now === Date.now ? null : now())
  let isAsking = false
  return {
    lease: async (asks) => {
      // Questions that nobody waits for any more must not use up the connections.
      if (isAsking) throw new Error('the last question is not answered yet')
      isAsking = true
      const columns = [
        asks.map(({ id }) => id),
        asks.map(({ capacity }) => capacity),
        asks.map(({ windowMs }) => windowMs),
        asks.map(({ debt }) => debt),
        asks.map(({ back }) => back),
        asks.map(({ need }) => need),
        asks.map(({ want }) => want),
      ]
      const sql =
        'SELECT granted, charged, nodes FROM lease_buckets($1, $2, $3, $4, $5, $6, $7, $8)'
      const { rows } = await run(sql, [...columns, time()]).finally(() => {
        isAsking = false
      })
      nodes = Number(rows[0]?.[2] ?? nodes)
      return rows.map(([granted, spent]) => ({ granted: Number(granted), spent: Number(spent) }))
    },
    countNodes: () => nodes,
    now,
    /** Removes buckets that are full. */
    removeFull: async (): Promise<void> => {
      const sql = 'DELETE FROM buckets WHERE at < coalesce($1::bigint, now_ms()) - $2::bigint'
      await run(sql, [time(), KEPT_MS])
    },
  } satisfies BucketStore & { removeFull(): Promise<void> }
}
