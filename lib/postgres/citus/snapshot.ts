import { codeOf } from '../../reason.ts'
import type { PgConnection, PgPool } from '../connection.ts'
import { inSnapshot, inTransaction } from '../transaction.ts'
import { readLayout } from './layout.ts'

const ATTEMPTS = 100
/** Shorter than the time after which PostgreSQL looks for deadlocks. */
const LOCK_TIMEOUT_MS = 500
const LOCK_NOT_AVAILABLE = '55P03'

/**
 * Runs `work` in one transaction, whose statements all see what was committed before its first one. With
 * Citus, each worker commits by itself: all writes wait for some milliseconds while the transaction begins
 * everywhere.
 */
export async function inSnapshotOfAll<Result>(
  pool: PgPool,
  work: (connection: PgConnection) => Promise<Result>,
): Promise<Result> {
  if ((await pool.use(readLayout)) === 'local') return inSnapshot(pool, work)
  return inSnapshot(pool, async (connection) => {
    // One connection to each worker, so that all later statements use it.
    await connection.runScript('SET LOCAL citus.max_adaptive_executor_pool_size = 1')
    await withoutWrites(pool, () => connection.query('SELECT count(*) FROM rum_counted'))
    return work(connection)
  })
}

/** Runs `work` while no transaction has uncommitted writes. */
async function withoutWrites(pool: PgPool, work: () => Promise<unknown>): Promise<void> {
  for (let left = ATTEMPTS; ; left--) {
    try {
      await inTransaction(pool, async (connection) => {
        await connection.runScript(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`)
        await connection.runScript(`LOCK TABLE ${await listTables(connection)} IN SHARE MODE`)
        await work()
      })
      return
    } catch (error) {
      if (codeOf(error) !== LOCK_NOT_AVAILABLE || left === 1) throw error
    }
  }
}

/** Lists all tables but those whose rows mean nothing after a restart. */
async function listTables(connection: PgConnection): Promise<string> {
  const { rows } = await connection.query(
    `SELECT string_agg(quote_ident(tablename), ', ' ORDER BY tablename) FROM pg_tables
     WHERE schemaname = current_schema() AND tablename NOT IN ('buckets', 'leases', 'nodes')`,
  )
  return String(rows[0]?.[0])
}
