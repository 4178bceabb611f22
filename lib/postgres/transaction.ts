import type { PgConnection, PgPool } from './connection.ts'

const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED'
export const WRITE_LOCK = `SELECT pg_advisory_xact_lock(hashtext('meridian writes'))`

/**
 * Runs `work` in one transaction. Each statement sees what was committed before it, whatever the server's
 * default is: so after taking a lock, it sees what the last holder wrote. `longestMs`: see `PgPool.use`.
 */
export function inTransaction<Result>(
  pool: PgPool,
  work: (connection: PgConnection) => Promise<Result>,
  longestMs?: number,
): Promise<Result> {
  return pool.use((connection) => runTransaction(connection, BEGIN, work), longestMs)
}

/**
 * Runs `work` in one transaction under the lock of all writes of accounts, keys, sites, billing and contact.
 * They happen one at a time, on all nodes together, as they do in SQLite: what a statement finds cannot change
 * before its transaction ends. So limits such as the number of keys are exact, and no transaction has to be
 * repeated. Counts and beacons do not take this lock.
 */
export function inWrite<Result>(
  pool: PgPool,
  work: (connection: PgConnection) => Promise<Result>,
): Promise<Result> {
  // One round trip: the next write waits for each of them.
  return pool.use((connection) => runTransaction(connection, `${BEGIN}; ${WRITE_LOCK}`, work))
}

/** Runs `work` in one transaction, whose statements all see what was committed before its first one. */
export function inSnapshot<Result>(
  pool: PgPool,
  work: (connection: PgConnection) => Promise<Result>,
): Promise<Result> {
  return pool.use((connection) =>
    runTransaction(connection, 'BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY', work),
  )
}

async function runTransaction<Result>(
  connection: PgConnection,
  begin: string,
  work: (connection: PgConnection) => Promise<Result>,
): Promise<Result> {
  await connection.runScript(begin)
  try {
    const result = await work(connection)
    await connection.query('COMMIT')
    return result
  } catch (error) {
    // After some errors, the connection is gone, and with it the transaction.
    await connection.query('ROLLBACK').catch(() => {})
    throw error
  }
}
