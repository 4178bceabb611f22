import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { openDashboard, SITE } from '../parts/demo-instance.ts'
import { readArguments } from '../parts/options.ts'
import { report, run } from '../parts/run.ts'

const USAGE = `Usage: npm run screenshots
Takes the pictures for the documents, using an instance with made-up visitors. Run npm run geo first to
prepare the databases in data/geo. CHROMIUM names the browser.`

const FOLDER = 'docs/pictures'

const PICTURES = [
  { name: 'overview', path: '/app', height: 860 },
  { name: 'vitals', path: `/app/vitals?site=${encodeURIComponent(SITE)}`, height: 1100 },
  { name: 'look-up', path: '/app/look-up?ip=81.2.69.160', height: 900 },
]

await run(async () => {
  readArguments({}, USAGE)
  const past = { days: 7, viewsPerDay: 2_000, keys: 2, auditRows: 0 }
  await using dashboard = await openDashboard({ geoFolder: 'data/geo', ...past })
  mkdirSync(FOLDER, { recursive: true })
  for (const { name, path, height } of PICTURES) {
    const page = await dashboard.openPage(height)
    await page.goto(`${dashboard.url}${path}`, { waitUntil: 'networkidle' })
    const file = join(FOLDER, `${name}.png`)
    await page.screenshot({ path: file })
    report(file)
  }
})
