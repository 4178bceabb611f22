import type { PgConnection, PgPool } from './connection.ts'

/**
 * Runs `work` in one transaction. Each statement sees what was committed before it, whatever the server's
 * default is: so after taking a lock, it sees what the last holder wrote. `longestMs`: see `PgPool.use`.
 */
export function inTransaction<Result>(
  pool: PgPool,
  work: (connection: PgConnection) => Promise<Result>,
  longestMs?: number,
): Promise<Result> {
  return pool.use(
    (connection) => runTransaction(connection, 'ISOLATION LEVEL READ COMMITTED', work),
    longestMs,
  )
}

/** Runs `work` in one transaction, whose statements all see what was committed before its first one. */
export function inSnapshot<Result>(
  pool: PgPool,
  work: (connection: PgConnection) => Promise<Result>,
): Promise<Result> {
  return pool.use((connection) =>
    runTransaction(connection, 'ISOLATION LEVEL REPEATABLE READ, READ ONLY', work),
  )
}

async function runTransaction<Result>(
  connection: PgConnection,
  mode: string,
  work: (connection: PgConnection) => Promise<Result>,
): Promise<Result> {
  await connection.query(`BEGIN ${mode}`)
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
