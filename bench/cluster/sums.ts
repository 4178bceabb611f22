import type { PgPool } from '../../lib/postgres/connection.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { joinNodes } from '../../lib/postgres/nodes/nodes.ts'
import { openPool } from '../../lib/postgres/pool.ts'
import { keepBeacon } from '../../lib/rum/ingest/beacon.ts'
import type { Draft } from '../../lib/rum/ingest/journal.ts'
import { openPgRumWriter } from '../../lib/rum/postgres/writer.ts'
import { createRandom } from '../../scripts/parts/random.ts'
import { makeBeacon } from '../parts/beacon.ts'
import type { BenchOptions } from '../parts/options.ts'
import { printTable, type Row } from '../parts/table.ts'

const SITES = 4_000
const COUNTRIES = ['DE', 'FR', 'GB', 'IN', 'US']
const AT_ONCE = 2_000
const NEVER_MS = 2 ** 31 - 1
const TABLES = ['rum_sketches', 'rum_days', 'rum_pages']

/**
 * Measures how fast one server sums up beacons of many sites in the empty database MERIDIAN_DATABASE_URL. The first
 * round adds all rows.
 */
export async function benchSums({ rounds }: BenchOptions): Promise<void> {
  const url = process.env['MERIDIAN_DATABASE_URL']
  if (url === undefined) throw new Error('Cannot measure: set MERIDIAN_DATABASE_URL')
  await using pool = openPool({ url, max: 5, name: 'bench', onError: () => {} })
  await migratePg(pool)
  const drafts = makeDrafts()
  const rows: Row[] = []
  for (let round = 0; round <= rounds; round++) {
    await using node = await joinNodes(pool, 'bench', -1)
    const writer = openPgRumWriter(pool, {
      node: node.id,
      onError: (error) => {
        throw error
      },
      onTakenOver: () => {},
      checkpointMs: NEVER_MS,
    })
    for (let at = 0; at < drafts.length; at += AT_ONCE) {
      await Promise.all(drafts.slice(at, at + AT_ONCE).map((draft) => writer.add(draft)))
    }
    const [began, before] = [performance.now(), process.cpuUsage()]
    await writer[Symbol.asyncDispose]()
    const seconds = (performance.now() - began) / 1_000
    const { user, system } = process.cpuUsage(before)
    const count = await countRows(pool)
    const figures = { 'rows/s': count / seconds, 'server µs/row': (user + system) / count }
    rows.push({ round, rows: count, ...figures })
  }
  printTable(rows, 'Rows of sketches')
}

/** For each site a beacon from each country, of the same hour. */
function makeDrafts(): Draft[] {
  const random = createRandom(1)
  const receivedAt = Date.now()
  return Array.from({ length: SITES }, (_, site) =>
    COUNTRIES.map((country) => ({
      siteId: `site-${site}`,
      receivedAt,
      country,
      beacon: keepBeacon(makeBeacon(random)),
    })),
  ).flat()
}

async function countRows(pool: PgPool): Promise<number> {
  const counts = TABLES.map((table) => `(SELECT count(*) FROM ${table})`)
  const { rows } = await pool.use((connection) =>
    connection.query(`SELECT ${counts.join(' + ')}`, []),
  )
  return Number(rows[0]?.[0])
}
