import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { loadAsset } from '../../lib/assets/page-assets.ts'
import { dayOf } from '../../lib/config/period.ts'
import { assertAccessible, SCREENS } from '../pages/accessible.ts'
import { openBrowser, type TestBrowser, type Visitor } from '../pages/browser.ts'
import { openSite, type Site } from '../pages/site.ts'
import { clientOf } from '../support/database/test-database.ts'
import { signUp } from '../support/sign-in.ts'

const TIMEOUT_MS = 300_000
const EMAIL = 'ada@example.com'

let browser: TestBrowser
let site: Site
let token: string
before(async () => {
  browser = await openBrowser()
  site = await openSite()
  token = await signUp(site.app)
  const headers = { authorization: `Bearer ${token}` }
  const body = { name: 'Shop <b>front</b>' }
  await site.app.send('POST', '/v1/account/me/keys', { headers, body })
  addUsage()
})
after(async () => {
  await browser.close()
  await site[Symbol.asyncDispose]()
})

/** Makes the user an operator with a month of requests. */
function addUsage(): void {
  const today = dayOf(Date.now())
  clientOf(site.app.services).exec(`UPDATE users SET role = 'operator' WHERE email = '${EMAIL}';
    WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < 29)
    INSERT INTO usage_by_operation SELECT ${today} - n, user_id, api_keys.id, operation.value,
        status.value, 1000 / (1 + status.value % 100) + n, 0, 0
      FROM n, api_keys, json_each('["locateAddress","getTimezone"]') AS operation,
        json_each('[200,404,429,400,503]') AS status;
    INSERT INTO usage_of_all SELECT day, operation, status, sum(requests) FROM usage_by_operation
      GROUP BY day, operation, status`)
}

async function open(path: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const visitor = await browser.visitor(options)
  const cookie = { name: 'meridian_dashboard', value: token, url: `${site.origin}/app` }
  await visitor.page.context().addCookies([cookie])
  await visitor.page.goto(`${site.origin}${path}`)
  return visitor
}

/** How many colours the chart has in its bars, besides those of edges. */
async function colorsOf(page: Page): Promise<number> {
  return Number(
    await page.evaluate(`(() => {
      const canvas = document.querySelector('.plot canvas')
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      const counts = new Map()
      for (const color of new Uint32Array(data.buffer)) counts.set(color, (counts.get(color) ?? 0) + 1)
      return [...counts.values()].filter((count) => count > 100).length
    })()`),
  )
}

async function boxesOf(page: Page, selectors: readonly string[]) {
  return await Promise.all(selectors.map((one) => page.locator(one).boundingBox()))
}

describe('the usage page in a browser', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible, for users and for operators: ${name}`, async () => {
      const { page, errors } = await open('/app/usage', options)
      for (const path of ['/app/usage', '/app/usage?split=endpoint', '/app/operate/usage']) {
        await page.goto(`${site.origin}${path}`)
        await page.waitForSelector('.plot canvas')
        for (const summary of await page.locator('main summary').all()) await summary.click()
        await assertAccessible(page, path)
      }
      await page.goto(`${site.origin}/app/usage?key=session`)
      await assertAccessible(page, 'nothing counted')
      await page.goto(`${site.origin}/app/usage/mails`)
      await assertAccessible(page, 'mails about usage')
      assert.deepEqual(errors, [])
      await page.context().close()
    })
  }

  it('draws a bar of each day with its parts', async () => {
    const { page } = await open('/app/usage', { colorScheme: 'light' })
    await page.waitForSelector('.plot canvas')
    // Five results, the ground, and what the axes draw.
    const all = await colorsOf(page)
    assert.ok(all >= 6, `${all} colours`)
    const names = await page.locator('.u-legend .u-label').allTextContents()
    assert.deepEqual(names.slice(1).toSorted(), [
      'Answered',
      'Failed',
      'Not found',
      'Over a limit',
      'Refused',
    ])
    await page.focus('.u-legend button:text("Failed")')
    await page.keyboard.press('Space')
    assert.equal(await page.locator('.u-legend button[aria-pressed="true"]').count(), 4)
    assert.equal(await page.textContent('.u-legend button[aria-pressed="false"]'), 'Failed')
    await page.context().close()
  })

  it('fills the room that the page has kept for it, to the edge of the card', async () => {
    const one = '/app/usage?split=endpoint&operation=getTimezone'
    const charts = [
      [one, 320],
      [one, 390],
      [one, 1280],
      ['/app/usage', 1280],
      ['/app/usage', 390],
      ['/app/usage', 320],
    ] as const
    for (const [path, width] of charts) {
      const { page } = await open(path, { viewport: { width, height: 844 } })
      await page.waitForSelector('.plot canvas')
      const [plot, chart, bars] = await boxesOf(page, ['.plot', '.uplot', '.u-over'])
      assert.ok(plot && chart && bars)
      const kept = `parseFloat(getComputedStyle(document.querySelector('.plot')).minHeight)`
      const where = `${path} at ${width}: ${JSON.stringify({ plot, chart, bars })}`
      assert.equal(plot.height, await page.evaluate(kept), where)
      assert.ok(plot.height - chart.height <= 8, where)
      // Half of a date is at most 20 px wide.
      assert.ok(plot.x + plot.width - (bars.x + bars.width) <= 20, where)
      const belowBars = plot.y + plot.height - (bars.y + bars.height)
      assert.ok(belowBars < (path === one ? 30 : 64), where)
      await page.context().close()
    }
  })

  it('shows short figures in pairs on phones, and breaks none', async () => {
    for (const width of [320, 390]) {
      const { page } = await open('/app/usage', { viewport: { width, height: 844 } })
      const cards = ['#requests', '#errors', '#limited'].map((id) => `.card:has(${id})`)
      const [all, errors, limited] = await boxesOf(page, cards)
      assert.ok(all && errors && limited)
      assert.equal(errors.y, limited.y)
      assert.equal(limited.x + limited.width, all.x + all.width)
      const figure = page.locator('.brief .figure').first()
      const line = await figure.evaluate(
        `getComputedStyle(document.querySelector('.figure')).lineHeight`,
      )
      for (const longest of ['999,999', '99.9%', 'MMMM']) {
        await figure.evaluate((element, text) => element.replaceChildren(text), longest)
        const { height = 0 } = (await figure.boundingBox()) ?? {}
        assert.equal(Math.round(height), Math.round(parseFloat(String(line))), longest)
      }
      await page.context().close()
    }
  })

  it('underlines the link that names a row only while it is pointed at', async () => {
    const { page } = await open('/app/usage')
    const link = '.usage-totals th a'
    const line = () =>
      page.evaluate(`getComputedStyle(document.querySelector('${link}')).textDecorationLine`)
    assert.equal(await line(), 'none')
    await page.hover(link)
    assert.equal(await line(), 'underline')
  })

  it('names no single part, and gives the axis the room of its values', async () => {
    const { page } = await open('/app/usage?split=endpoint&operation=getTimezone', {
      viewport: { width: 390, height: 844 },
    })
    await page.waitForSelector('.plot canvas')
    const legend = page.locator('.u-legend')
    assert.equal(await legend.isVisible(), false)
    const chart = await page.locator('.uplot').boundingBox()
    const bars = await page.locator('.u-over').boundingBox()
    assert.ok(chart && bars)
    assert.ok(bars.x - chart.x < 50, `${bars.x - chart.x} px`)
    await page.hover('.u-over')
    assert.equal(await legend.isVisible(), true)
    assert.match((await legend.textContent()) ?? '', /\d [A-Z][a-z]{2}.*\d/)
    await page.context().close()
  })

  it('shows what is chosen at once, with the focus in the form', async () => {
    const { page, errors } = await open('/app/usage')
    await page.waitForSelector('.plot canvas')
    assert.equal(await page.locator('.filters button').isVisible(), false)
    const before = await page.textContent('#summary')
    await page.focus('#operation')
    await page.selectOption('#operation', 'getTimezone')
    while ((await page.textContent('#summary')) === before) await sleep(20)
    assert.match(page.url(), /operation=getTimezone/)
    assert.equal(await page.evaluate('document.activeElement.id'), 'operation')
    assert.equal(await page.locator('.plot canvas').count(), 1)
    const rows = await page.locator('[aria-label="Table of Endpoints"] tbody tr').count()
    assert.equal(rows, 1)
    await page.selectOption('#key', 'session')
    await page.waitForSelector('text=No requests in this period')
    await page.selectOption('#key', '')
    await page.waitForSelector('.plot canvas')
    assert.deepEqual(errors, [])
    await page.context().close()
  })

  it('works without a script, with a button', async () => {
    const { page } = await open('/app/usage', { javaScriptEnabled: false })
    await page.selectOption('#period', '7d')
    await page.click('button:text("Show")')
    assert.match(page.url(), /period=7d/)
    await page.click('summary:text("Requests per day as a table")')
    assert.equal(await page.locator('[aria-label="Table of requests per day"] tbody tr').count(), 7)
    await page.context().close()
  })

  it('downloads a CSV of what is shown', async () => {
    const { page } = await open('/app/usage?operation=getTimezone')
    const downloading = page.waitForEvent('download')
    await page.click('text=Download CSV')
    assert.match((await downloading).suggestedFilename(), /^usage-.*\.csv$/)
    await page.context().close()
  })

  it('loads at most 60 kB of scripts', async () => {
    const [app, usage] = await Promise.all([loadAsset('app.js'), loadAsset('usage.js')])
    assert.ok(app.gzipped.length + usage.gzipped.length <= 60_000)
  })
})
