import { dayOfHour, HOURS_OF_DAY, hourOf, KEPT_DAYS } from '../../rum/hour.ts'
import type { PgPool } from '../connection.ts'
import { listJournalNodes } from '../rum/entries.ts'
import { RUM_TABLES } from '../rum/retention.ts'

/** The sites of one statement, which works on all workers at once. */
const SITES_AT_ONCE = 500

/** Removes rows older than `KEPT_DAYS`, and rows of deleted sites. One node does so for all. */
export async function removeOldFromShards(pool: PgPool, now: number): Promise<void> {
  const day = dayOfHour(hourOf(now)) - KEPT_DAYS
  // Each row is written together with one of these. They are read first: a site that is added in between must
  // not look like a deleted one.
  const written = await listIds(pool, 'SELECT DISTINCT site_id FROM rum_counted')
  const known = await listIds(pool, 'SELECT id FROM sites')
  for (const ids of pagesOf(known)) {
    for (const [table, column] of RUM_TABLES) {
      const sql = `DELETE FROM ${table} WHERE site_id = ANY ($1::text[]) AND ${column} < $2`
      const first = column === 'day' ? day : day * HOURS_OF_DAY
      await pool.use((connection) => connection.query(sql, [ids, first]))
    }
  }
  const kept = new Set(known)
  for (const ids of pagesOf(written.filter((id) => !kept.has(id)))) {
    for (const table of [...RUM_TABLES.map(([name]) => name), 'rum_counted']) {
      const sql = `DELETE FROM ${table} WHERE site_id = ANY ($1::text[])`
      await pool.use((connection) => connection.query(sql, [ids]))
    }
  }
}

/** Removes the rows of `rum_counted` whose node is not in `nodes` and has no journal: see `removeCounted`. */
export async function removeCountedFromShards(
  pool: PgPool,
  nodes: readonly string[],
): Promise<void> {
  const withJournal = await listJournalNodes(pool)
  await pool.use((connection) =>
    connection.query('DELETE FROM rum_counted WHERE node <> ALL ($1::text[])', [
      [...nodes, ...withJournal],
    ]),
  )
}

async function listIds(pool: PgPool, sql: string): Promise<string[]> {
  const { rows } = await pool.use((connection) => connection.query(sql))
  return rows.map(([id]) => String(id))
}

function* pagesOf(ids: readonly string[]): Generator<string[]> {
  for (let at = 0; at < ids.length; at += SITES_AT_ONCE) yield ids.slice(at, at + SITES_AT_ONCE)
}
