import type { SqliteDb } from '../lib/db/open.ts'
import { openDashboard, SITE } from '../scripts/parts/demo-instance.ts'
import { fillPeople } from './parts/fill-people.ts'
import { medianOf } from './parts/median.ts'
import type { BenchOptions } from './parts/options.ts'
import { printTable } from './parts/table.ts'

/** The data of a long-time user. Telemetry is kept for 92 days. */
const MUCH = { days: 90, viewsPerDay: 3_000, keys: 10, auditRows: 100_000 }
const PEOPLE = 10_000

const VITALS = `/app/vitals?site=${encodeURIComponent(SITE)}`
const PATHS = [
  '/app',
  '/app/keys',
  '/app/sites',
  `${VITALS}&period=24h`,
  `${VITALS}&period=7d`,
  `${VITALS}&period=28d`,
  `${VITALS}&period=90d`,
  '/app/look-up?ip=81.2.69.160',
  '/app/batch',
  '/app/billing',
  '/app/audit',
  '/app/audit?search=shop-777&page=2',
  '/app/account',
  '/app/operate/people',
  '/app/operate/people?search=person-777',
  '/app/operate/sites',
  '/app/operate/usage',
  '/app/operate/usage?list=keys',
  '/app/operate/usage?list=limited',
  '/app/operate/audit',
  '/app/operate/databases',
  '/app/operate/system',
  '/app/operate/billing',
  '/app/operate/inquiries',
  '/app/operate/notices',
]

const READ_TIME = `performance.getEntriesByType('navigation')[0].domInteractive`

/**
 * Measures how soon the pages of the dashboard, for a user with much data, and those for operators of
 * many users are interactive in Chromium.
 */
export async function benchPages({ geoFolder, rounds }: BenchOptions): Promise<void> {
  const addPeople = (db: SqliteDb) => fillPeople(db, PEOPLE, Date.now())
  await using dashboard = await openDashboard({ ...MUCH, addPeople, geoFolder })
  const page = await dashboard.openPage(800)
  const rows = await Array.fromAsync(PATHS, async (path) => {
    // In the warm-up, the server bundles the page's scripts.
    const time = await medianOf(rounds, async () => {
      await page.goto(`${dashboard.url}${path}`, { waitUntil: 'networkidle' })
      return Number(await page.evaluate(READ_TIME))
    })
    return { page: `\`${path.replace(/site=[^&]*&/, '')}\``, 'interactive, ms': time }
  })
  printTable(rows)
}
