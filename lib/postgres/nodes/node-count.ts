import { SECOND_MS } from '../../durations.ts'
import { repeat } from '../../periodic.ts'
import type { PgPool } from '../connection.ts'

const COUNT = 'SELECT greatest(1, count(*)) FROM nodes WHERE died_at IS NULL'

/** Counts the live nodes once a second. While the database is away, `count` returns the last number. */
export async function watchCount(
  pool: PgPool,
): Promise<Disposable & { readonly count: () => number }> {
  let known = 1
  const read = async () => {
    const { rows } = await pool.use((connection) => connection.query(COUNT))
    known = Number(rows[0]?.[0] ?? known)
  }
  await read()
  // Not reported: the heartbeat fails at the same time, and that is reported.
  const reading = repeat(SECOND_MS, read, () => {})
  return { count: () => known, [Symbol.dispose]: () => reading[Symbol.dispose]() }
}
