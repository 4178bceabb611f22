import { SECOND_MS } from '../../durations.ts'
import { repeat } from '../../periodic.ts'
import type { PgPool } from '../connection.ts'

const COUNT = 'SELECT greatest(1, count(*)) FROM nodes WHERE died_at IS NULL'

/** Knows how many nodes are alive: while the database is away, the number that it was last. */
export async function watchCount(
  pool: PgPool,
): Promise<Disposable & { readonly count: () => number }> {
  let known = 1
  const read = async () => {
    const { rows } = await pool.use((connection) => connection.query(COUNT))
    known = Number(rows[0]?.[0] ?? known)
  }
  await read()
  // The signs of life of this node fail at the same time, which is reported.
  const reading = repeat(SECOND_MS, read, () => {})
  return { count: () => known, [Symbol.dispose]: () => reading[Symbol.dispose]() }
}
