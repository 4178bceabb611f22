import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Connection } from '../../db/connection.ts'
import type { WriterDb } from '../../db/engine.ts'
import { dayOfHour, HOURS_OF_DAY, hourOf, KEPT_DAYS } from '../hour.ts'

/** Small, so that no request waits for long. */
const STEP_ROWS = 500

/** Each table, its column of hours or days, and the key columns after that one. */
export const TABLES = [
  ['rum_hours', 'hour', 'country, device'],
  ['rum_sketches', 'hour', 'country, device'],
  ['rum_days', 'day', 'country, device'],
  ['rum_paths', 'day', 'path'],
  ['rum_pages', 'day', 'path, device'],
  ['rum_errors', 'hour', 'hash'],
  ['rum_error_samples', 'day', 'hash'],
  ['rum_counts', 'hour', 'kind, label'],
  ['rum_attribution', 'day', 'label'],
] as const

/** The first hour or day whose rows are kept. */
export function firstKept(column: 'hour' | 'day', now: number): number {
  const day = dayOfHour(hourOf(now)) - KEPT_DAYS
  return column === 'day' ? day : day * HOURS_OF_DAY
}

/** Removes rows older than `KEPT_DAYS` and rows of deleted sites, in small steps. */
export async function removeOld(db: WriterDb, now: number): Promise<void> {
  for (const [table, column, rest] of TABLES) {
    const first = firstKept(column, now)
    for (const siteId of listSiteIds(db, table)) {
      const remove = prepareRemove(db, table, `site_id, ${column}, ${rest}`, column)
      const removeStep = () => remove.run({ siteId, first }).changes
      while ((await db.engine.whenFree(removeStep)) === STEP_ROWS) await nextTurn()
      await nextTurn()
    }
  }
  await db.engine.execute({
    sql: 'DELETE FROM rum_counted WHERE NOT EXISTS (SELECT 1 FROM sites WHERE id = site_id)',
    params: [],
  })
}

function prepareRemove({ $client }: Connection, table: string, key: string, column: string) {
  return $client.prepare<[{ siteId: string; first: number }]>(
    `DELETE FROM ${table} WHERE (${key}) IN (
       SELECT ${key} FROM ${table} WHERE site_id = $siteId
         AND (${column} < $first OR NOT EXISTS (SELECT 1 FROM sites WHERE id = $siteId))
       LIMIT ${STEP_ROWS})`,
  )
}

/** Lists the sites in a table. Looks up the next site in the index instead of reading all rows. */
function listSiteIds({ $client }: Connection, table: string): string[] {
  const next = $client
    .prepare<[string], string | null>(`SELECT min(site_id) FROM ${table} WHERE site_id > ?`)
    .pluck()
  const ids: string[] = []
  for (let id = next.get(''); typeof id === 'string'; id = next.get(id)) ids.push(id)
  return ids
}
