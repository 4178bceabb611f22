import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'
import { type Instance, openInstance, SITE } from './demo-instance/instance.ts'
import { report, run } from './run.ts'

/*
 * The pictures of README.md, of a running instance with made-up visitors and the databases in
 * `data/geo`, which `npm run geo` prepares: `npm run screenshots`. CHROMIUM names the browser.
 */

const FOLDER = 'docs/pictures'
const WIDTH = 1280

interface Picture {
  readonly name: string
  readonly path: string
  readonly height: number
}

const PICTURES: readonly Picture[] = [
  { name: 'overview', path: '/app', height: 860 },
  { name: 'vitals', path: `/app/vitals?site=${encodeURIComponent(SITE)}`, height: 1100 },
  { name: 'look-up', path: '/app/look-up?ip=81.2.69.160', height: 900 },
]

await run(async () => {
  const { CHROMIUM: executablePath = '/usr/bin/chromium' } = process.env
  const some = { days: 7, viewsPerDay: 2_000, keys: 2, auditRows: 0 }
  await using instance = await openInstance({ geoDir: 'data/geo', ...some })
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] })
  mkdirSync(FOLDER, { recursive: true })
  try {
    for (const picture of PICTURES) report(await take(browser, instance, picture))
  } finally {
    await browser.close()
  }
})

async function take(browser: Browser, { url, token }: Instance, picture: Picture): Promise<string> {
  const { name, path, height } = picture
  const context = await browser.newContext({ viewport: { width: WIDTH, height } })
  await context.addCookies([{ name: 'meridian_dashboard', value: token, url: `${url}/app` }])
  const page = await context.newPage()
  await page.goto(`${url}${path}`, { waitUntil: 'networkidle' })
  const file = join(FOLDER, `${name}.png`)
  await page.screenshot({ path: file })
  await context.close()
  return file
}
