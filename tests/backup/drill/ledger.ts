import assert from 'node:assert/strict'
import Sqlite from 'better-sqlite3'
import { type Acknowledged, BEACON_CLIENTS, LOOKUP_CLIENTS } from './writers.ts'

/** The writes of the drill that a database file contains. */
export interface Holdings {
  readonly keys: ReadonlySet<unknown>
  readonly sites: ReadonlySet<unknown>
  readonly beacons: number
  readonly lookups: number
}

/** Entries stay in the journal until all rows of their site are written, so some are in both. */
const UNCOUNTED_ENTRIES = `
  SELECT count(*) FROM rum_journal AS entry WHERE NOT EXISTS (
    SELECT 1 FROM rum_sketches AS row
    WHERE row.site_id = entry.site_id AND row.hour = entry.received_at / 3600000
      AND row.country = entry.country AND row.device = entry.beacon ->> 'device'
      AND row.last_id >= entry.id)`

/** Reads a database file that no process writes. Throws if SQLite finds it damaged. */
export function readHoldings(path: string): Holdings {
  const db = new Sqlite(path, { readonly: true })
  try {
    assert.deepEqual(db.pragma('integrity_check'), [{ integrity_check: 'ok' }])
    assert.deepEqual(db.pragma('foreign_key_check'), [])
    const ids = (table: string) => new Set(db.prepare(`SELECT id FROM ${table}`).pluck().all())
    const number = (sql: string) => Number(db.prepare(`SELECT ${sql}`).pluck().get())
    return {
      keys: ids('api_keys'),
      sites: ids('sites'),
      beacons: number(`(SELECT coalesce(sum(samples), 0) FROM rum_hours) + (${UNCOUNTED_ENTRIES})`),
      lookups: number('coalesce(sum(requests), 0) FROM usage_by_period'),
    }
  } finally {
    db.close()
  }
}

/** Adds the writes that `disk` contains and `copy` lacks. Litestream must copy them from `now` on. */
export function addUncopied(
  acknowledged: Acknowledged,
  disk: Holdings,
  copy: Holdings,
  now: number,
): void {
  for (const name of ['keys', 'sites'] as const) {
    const missing = [...disk[name]].filter((id) => !copy[name].has(id))
    acknowledged[name].push(...missing.map((id) => ({ id: String(id), at: now })))
  }
  for (const name of ['beacons', 'lookups'] as const) {
    for (let n = copy[name]; n < disk[name]; n++) acknowledged[name].push(now)
  }
}

/** The server flushes once a second; another second is allowed for the write. */
const FLUSH_MS = 2_000
/** Answers may arrive in another order than their commits, but never this much later. */
const OUT_OF_ORDER_MS = 1_000

/**
 * Returns the time of the state `after`: when the first write that it lacks was acknowledged, or `now`
 * if it lacks none. Throws unless the state is consistent: it contains all of `before`, nothing twice,
 * and nothing acknowledged much later than the first missing write.
 */
export function checkedTimeOf(
  after: Holdings,
  before: Holdings,
  acknowledged: Acknowledged,
  now: number,
): number {
  const { beacons, lookups } = acknowledged
  const rows = (['keys', 'sites'] as const).flatMap((name) => {
    const lost = [...before[name]].filter((id) => !after[name].has(id))
    assert.deepEqual(lost, [], `${name} of earlier rounds are lost`)
    return acknowledged[name].map(({ id, at }) => ({ at, isThere: after[name].has(id) }))
  })
  const missing = Math.min(now, ...rows.filter(({ isThere }) => !isThere).map(({ at }) => at))
  const latest = Math.max(0, ...rows.filter(({ isThere }) => isThere).map(({ at }) => at))
  assert.ok(
    latest - missing < OUT_OF_ORDER_MS,
    'a key or site is missing although later ones are stored',
  )

  const newBeacons = after.beacons - before.beacons
  const newLookups = after.lookups - before.lookups
  assert.ok(newBeacons >= 0 && newLookups >= 0, 'beacons or look-ups of earlier rounds are lost')
  assert.ok(newBeacons <= beacons.length + BEACON_CLIENTS, 'beacons are counted twice')
  assert.ok(newLookups <= lookups.length + LOOKUP_CLIENTS, 'look-ups are counted twice')
  return Math.min(
    missing,
    beacons[newBeacons] ?? now,
    (lookups[newLookups] ?? Number.POSITIVE_INFINITY) + FLUSH_MS,
  )
}
