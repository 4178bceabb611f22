import type { PgConnection, PgPool } from './connection.ts'

/**
 * Runs `work` in one transaction. Its statements see what was committed before each of them, whatever the
 * server's default is: so after a lock, they see what its last holder wrote.
 */
export function inTransaction<Result>(
  pool: PgPool,
  work: (connection: PgConnection) => Promise<Result>,
): Promise<Result> {
  return pool.use(async (connection) => {
    await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    try {
      const result = await work(connection)
      await connection.query('COMMIT')
      return result
    } catch (error) {
      // After some errors, the connection is gone, and with it the transaction.
      await connection.query('ROLLBACK').catch(() => {})
      throw error
    }
  })
}
