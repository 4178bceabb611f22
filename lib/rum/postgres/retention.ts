import type { PgPool } from '../../postgres/connection.ts'
import { firstKept, TABLES } from '../store/retention.ts'

/** The rows of one statement: few enough that it takes a fraction of a second. */
const STEP_ROWS = 5_000

/** Removes rows older than `KEPT_DAYS` and rows of deleted sites, in steps. One node does so for all. */
export async function removeOld(pool: PgPool, now: number): Promise<void> {
  for (const [table, column] of TABLES) {
    const sql = removeSome(table, column)
    const params = [firstKept(column, now), STEP_ROWS]
    const removeStep = () => pool.use((connection) => connection.query(sql, params))
    while ((await removeStep()).changes === STEP_ROWS);
  }
}

/**
 * Removes the rows of `rum_counted` whose site was deleted, or whose node is not in `nodes` and has no
 * journal. `nodes` are the ids of all nodes, live or dead.
 */
export async function removeCounted(pool: PgPool, nodes: readonly string[]): Promise<void> {
  await pool.use((connection) =>
    connection.query(
      `DELETE FROM rum_counted
       WHERE NOT EXISTS (SELECT FROM sites WHERE sites.id = site_id)
         OR (node <> ALL ($1::text[])
           AND NOT EXISTS (SELECT FROM rum_journal WHERE rum_journal.node = rum_counted.node))`,
      [nodes],
    ),
  )
}

/**
 * Finds sites, and the old rows of each, by the index of the key: tables may be large, and few rows are old.
 */
function removeSome(table: string, column: 'hour' | 'day'): string {
  return `WITH RECURSIVE ids AS (
      SELECT min(site_id) AS id FROM ${table}
      UNION ALL
      SELECT (SELECT min(site_id) FROM ${table} WHERE site_id > ids.id) FROM ids WHERE id IS NOT NULL
    ), bounds AS (
      SELECT id, CASE WHEN EXISTS (SELECT FROM sites WHERE sites.id = ids.id) THEN $1::bigint
        ELSE ${Number.MAX_SAFE_INTEGER} END AS first FROM ids WHERE id IS NOT NULL
    ), old AS (
      SELECT tid FROM bounds CROSS JOIN LATERAL (
        SELECT ctid AS tid FROM ${table} WHERE site_id = id AND ${column} < first
        ORDER BY site_id, ${column} LIMIT $2) AS rows
      LIMIT $2
    )
    DELETE FROM ${table} WHERE ctid = ANY (ARRAY (SELECT tid FROM old))`
}
