import type { PgConnection, PgPool } from '../connection.ts'
import type { Layout } from './layout.ts'

/**
 * Groups sites by shard, at most `most` in a group. A transaction that writes to one shard commits on its
 * worker alone, without two-phase commit.
 */
export async function groupByShard<Site extends { readonly id: string }>(
  { pool, layout }: { readonly pool: PgPool; readonly layout: Layout },
  sites: readonly Site[],
  most: number,
): Promise<Site[][]> {
  if (sites.length === 0) return []
  const shards = layout === 'local' ? new Map<string, number>() : await findShards(pool, sites)
  const byShard = Map.groupBy(sites, ({ id }) => shards.get(id) ?? 0)
  return [...byShard.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / most) }, (_, at) =>
      all.slice(at * most, (at + 1) * most),
    ),
  )
}

async function findShards(
  pool: PgPool,
  sites: readonly { readonly id: string }[],
): Promise<Map<string, number>> {
  const { rows } = await pool.use((connection) =>
    connection.query(
      `SELECT id, get_shard_id_for_distribution_column('rum_counted', id)
       FROM unnest($1::text[]) AS id`,
      [sites.map(({ id }) => id)],
    ),
  )
  return new Map(rows.map(([id, shard]) => [String(id), Number(shard)]))
}

/** The rows of one statement. */
const ROWS = 50

const ADD_COUNTED = `INSERT INTO rum_counted (site_id, node, last_id, checkpoint)
  VALUES ${Array.from({ length: ROWS }, (_, at) => `($${at + 2}, $1, 0, 0)`).join(', ')} ON CONFLICT DO NOTHING`

/** Adds rows of `rum_counted` that are missing. The sites must be in one shard. */
export async function addCounted(
  connection: PgConnection & { readonly node: string },
  siteIds: readonly string[],
): Promise<void> {
  for (let at = 0; at < siteIds.length; at += ROWS) {
    const some = siteIds.slice(at, at + ROWS)
    // Repeats the first site to fill the statement: rows that exist are left out.
    const filled = Array.from({ length: ROWS }, (_, n) => some[n] ?? some[0])
    await connection.query(ADD_COUNTED, [connection.node, ...filled])
  }
}
