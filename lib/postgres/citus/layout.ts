import type { PgConnection } from '../connection.ts'
import { DISTRIBUTED } from './tables.ts'

/** Whether one server has all tables, or Citus has distributed the large ones over workers. */
export type Layout = 'local' | 'distributed'

export async function readLayout(connection: PgConnection): Promise<Layout> {
  return (await listDistributed(connection)).size === 0 ? 'local' : 'distributed'
}

/** The names of our tables that are distributed. */
export async function listDistributed(connection: PgConnection): Promise<ReadonlySet<string>> {
  const citus = await connection.query(`SELECT FROM pg_extension WHERE extname = 'citus'`)
  if (citus.rows.length === 0) return new Set()
  const { rows } = await connection.query(
    `SELECT name FROM unnest($1::text[]) AS name
     WHERE EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = to_regclass(name))`,
    [DISTRIBUTED.map(({ name }) => name)],
  )
  return new Set(rows.map(([name]) => String(name)))
}
