import { chromium, type Page } from 'playwright-core'
import * as v from 'valibot'
import { type Instance, openInstance, SITE } from '../demo-instance/instance.ts'
import { markdownTable, median } from './table.ts'

interface PagesOptions {
  readonly geoFolder: string
  readonly rounds: number
  readonly print: (text: string) => void
}

/** As much as a user has after years: telemetry is kept for 90 days. */
const MUCH = { days: 90, viewsPerDay: 3_000, keys: 10, auditRows: 100_000 }

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
]

const Load = v.object({ interactive: v.number(), loaded: v.number(), scriptBytes: v.number() })
type Load = v.InferOutput<typeof Load>

const READ_LOAD = `(() => {
  const [navigation] = performance.getEntriesByType('navigation')
  const scripts = performance.getEntriesByType('resource').filter(({ initiatorType }) => initiatorType === 'script')
  const scriptBytes = scripts.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)
  return { interactive: navigation.domInteractive, loaded: navigation.loadEventEnd, scriptBytes }
})()`

/** Measures how soon pages of the dashboard can be used in Chromium, by a user who has much. */
export async function benchPages({ geoFolder, rounds, print }: PagesOptions): Promise<void> {
  const { CHROMIUM: executablePath = '/usr/bin/chromium' } = process.env
  await using instance = await openInstance({ ...MUCH, geoDir: geoFolder })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  try {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const cookie = { name: 'meridian_dashboard', value: instance.token, url: `${instance.url}/app` }
    await context.addCookies([cookie])
    const page = await context.newPage()
    const rows: (string | number)[][] = []
    for (const path of PATHS) rows.push(await measure(page, instance, { path, rounds }))
    const titles = ['page', 'interactive, ms', 'loaded, ms', 'slowest, ms', 'script, kB']
    print(`\n${markdownTable(titles, rows)}`)
  } finally {
    await browser.close()
  }
}

async function measure(
  page: Page,
  { url }: Instance,
  { path, rounds }: { path: string; rounds: number },
): Promise<(string | number)[]> {
  const loads: Load[] = []
  // The first one bundles what the page loads, once in the life of a server.
  for (let round = 0; round <= rounds; round++) {
    await page.goto(`${url}${path}`, { waitUntil: 'networkidle' })
    const load = v.parse(Load, await page.evaluate(READ_LOAD))
    if (round > 0) loads.push(load)
  }
  return [
    `\`${path.replace(/site=[^&]*&/, '')}\``,
    median(loads.map(({ interactive }) => interactive)),
    median(loads.map(({ loaded }) => loaded)),
    Math.max(...loads.map(({ loaded }) => loaded)),
    median(loads.map(({ scriptBytes }) => scriptBytes)) / 1_000,
  ]
}
