import { setTimeout as sleep } from 'node:timers/promises'
import { SECOND_MS } from '../../parts/durations.ts'
import { type PgPool, QUICK_MS } from '../connection.ts'

/** The longest that a node waits for the counts of the others. */
const LONGEST_WAIT_MS = 5 * SECOND_MS
const STEP_MS = 100

/** Lets the other nodes know up to when this one has written its counts. Times are those of the database. */
export function createFlushes(pool: PgPool, node: string) {
  const run = (sql: string, params: readonly unknown[] = []) =>
    pool.use((connection) => connection.query(sql, params))
  let heartbeatAt: number | null = null
  let flushedAt: number | null = null
  return {
    /**
     * Reports that this node is live, and up to when its counts are written; unless the others have marked it
     * dead.
     */
    sendHeartbeat: async (): Promise<'sent' | 'marked dead'> => {
      // Need not wait for the disk: after a crash of PostgreSQL, the next heartbeat makes up for it.
      const sql = `WITH heartbeat AS (
          UPDATE nodes SET seen_at = now_ms(), flushed_at = $2
          WHERE id = $1 AND died_at IS NULL RETURNING seen_at
        )
        SELECT seen_at, set_config('synchronous_commit', 'off', true) FROM heartbeat`
      const { rows } = await pool.use(
        (connection) => connection.query(sql, [node, flushedAt]),
        QUICK_MS,
      )
      if (rows[0] === undefined) return 'marked dead'
      heartbeatAt = Number(rows[0][0])
      return 'sent'
    },
    /** Runs `flush`, which writes all that this node has counted. The next heartbeat reports it. */
    run: async (flush: () => Promise<void>): Promise<void> => {
      const before = heartbeatAt
      await flush()
      flushedAt = before
    },
    /** Waits until all other live nodes have written what they had counted by now, at most five seconds. */
    waitForOthers: async (): Promise<void> => {
      const now = (await run('SELECT now_ms()')).rows[0]?.[0]
      const sql = `SELECT FROM nodes
        WHERE died_at IS NULL AND flushed_at <= $1 AND id <> $2 LIMIT 1`
      for (const end = performance.now() + LONGEST_WAIT_MS; performance.now() < end; ) {
        if ((await run(sql, [now, node])).rows.length === 0) return
        await sleep(STEP_MS)
      }
    },
  }
}
