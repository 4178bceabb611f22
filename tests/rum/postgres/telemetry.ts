import assert from 'node:assert/strict'
import { beforeEach } from 'node:test'
import type { Outcome } from '../../../lib/parts/sql.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { hourOf } from '../../../lib/rum/hour.ts'
import { keepBeacon } from '../../../lib/rum/ingest/beacon.ts'
import type { Draft } from '../../../lib/rum/ingest/journal.ts'
import { createPgRumReader } from '../../../lib/rum/postgres/reader.ts'
import { openPgRumWriter } from '../../../lib/rum/postgres/writer.ts'
import type { OverviewFilter } from '../../../lib/rum/read/overview.ts'
import type { RumReader } from '../../../lib/rum/reader.ts'
import type { RumWriter } from '../../../lib/rum/writer.ts'
import { createRandom } from '../../../scripts/parts/random.ts'
import { openMigratedPglite } from '../../support/database/pglite.ts'
import { NOON } from '../../support/helpers.ts'
import { shared } from '../../support/scene/freshly.ts'

export const HOUR = hourOf(NOON)
const NEVER_MS = 1_000_000
const TABLES = [
  'hours',
  'sketches',
  'days',
  'paths',
  'pages',
  'errors',
  'error_samples',
  'attribution',
  'counts',
]

export const ALL: OverviewFilter = { siteId: 'a', period: { from: HOUR - 72, to: HOUR + 72 } }

interface Variety {
  readonly pages?: number
  readonly kinds?: number
}

/** Makes the n-th beacon, the same one each time. They arrive one after another within two days. */
export function makeDraft(n: number, { pages = 5, kinds = 3 }: Variety = {}): Draft {
  const random = createRandom(n + 1)
  for (let skip = 0; skip < 3; skip++) random()
  const pick = <Item>(...items: Item[]): Item => items[Math.floor(random() * items.length)] as Item
  const beacon = keepBeacon({
    ...(random() < 0.9 && { path: `/p ${Math.floor(pages * random())}` }),
    ...(random() < 0.8 && { deviceType: pick('mobile', 'desktop') }),
    ...(random() < 0.5 && { connectionType: pick('4g', 'wifi') }),
    metrics: {
      lcp: Math.round(5_000 * random()),
      ...(random() < 0.5 && { cls: pick(0, 0.1, 101), dns: Math.round(90 * random()) }),
    },
    ...(random() < 0.6 && { attribution: { lcp: pick('h1', 'img.hero'), cls: 'div.ad' } }),
    errors: random() < 0.6 ? [{ message: 'no', line: Math.floor(kinds * random()) }] : [],
  })
  return {
    siteId: pick('a', 'a', 'b'),
    receivedAt: NOON + n * 60_000,
    country: pick('GB', ''),
    beacon,
  }
}

let opened = 0

/** Opens telemetry as one node does, whose checkpoints happen only when they are asked for. */
export async function openNode(pool: PgPool) {
  opened += 1
  const node = `node ${opened}`
  const sql = "INSERT INTO nodes (id, version, started_at, seen_at) VALUES ($1, 'test', 0, 0)"
  await pool.use((connection) => connection.query(sql, [node]))
  const errors: string[] = []
  let takenOver = 0
  const writer = openPgRumWriter(pool, {
    node,
    onError: (_, message) => {
      errors.push(message)
    },
    onTakenOver: () => {
      takenOver += 1
    },
    checkpointMs: NEVER_MS,
  })
  const checkpoint = async () => {
    for (const siteId of ['a', 'b']) await writer.checkpointSite(siteId)
  }
  return { node, writer, errors, checkpoint, takenOver: () => takenOver }
}

export async function send(writer: RumWriter, drafts: readonly Draft[]): Promise<void> {
  const accepted = await Promise.all(drafts.map((draft) => writer.add(draft)))
  assert.deepEqual(accepted, Array(drafts.length).fill('stored'))
}

/** All that can be read about a site. */
export async function readSite(writer: RumWriter, reader: RumReader, filter = ALL) {
  const summary = await reader.readSummary(filter, await writer.readLive(filter))
  await writer.checkpointSite(filter.siteId)
  const overviews: unknown[] = []
  for (const series of [undefined, 'hour', 'day'] as const) {
    overviews.push(JSON.parse(await reader.readOverview({ ...filter, series })))
  }
  return { summary: JSON.parse(new TextDecoder().decode(summary)), overviews }
}

/** The number of accepted beacons in the stored rows of a site, which must all be the same. */
export async function countStored(pool: PgPool, siteId = 'a'): Promise<number> {
  const overview = JSON.parse(await createPgRumReader(pool).readOverview({ ...ALL, siteId }))
  const days = await read(pool, `SELECT sum(samples) FROM rum_days WHERE site_id = '${siteId}'`)
  const hours = await read(pool, `SELECT sum(samples) FROM rum_hours WHERE site_id = '${siteId}'`)
  assert.deepEqual(days, hours)
  assert.equal(overview.beacons.accepted, Number(hours[0]?.[0] ?? 0))
  return overview.beacons.accepted
}

export async function read(pool: PgPool, sql: string): Promise<unknown[][]> {
  return (await pool.use((connection) => connection.query(sql))).rows
}

export async function countEntries(pool: PgPool): Promise<number> {
  const sql = 'SELECT coalesce(sum(json_array_length(entries::json)), 0) FROM rum_journal'
  return Number((await read(pool, sql))[0]?.[0])
}

/** One PostgreSQL for all tests of the suite, in which each of them finds no telemetry. */
export function poolOfSuite(): PgPool {
  const pool = shared(openMigratedPglite)
  beforeEach(() => removeAll(pool))
  return pool
}

export async function removeAll(pool: PgPool): Promise<void> {
  const tables = [...TABLES, 'journal', 'counted'].map((name) => `rum_${name}`)
  await pool.use((connection) => connection.runScript(`TRUNCATE ${tables.join(', ')}`))
}

/** A pool whose statements go through `query`, which may fail before or after it runs them. */
export function interceptPool(
  pool: PgPool,
  query: (text: string, run: () => Promise<Outcome>) => Promise<Outcome>,
): PgPool {
  return {
    ...pool,
    use: (work) =>
      pool.use((connection) =>
        work({
          query: (text, params) => query(text, () => connection.query(text, params)),
          runScript: connection.runScript,
        }),
      ),
    [Symbol.asyncDispose]: async () => {},
  }
}
