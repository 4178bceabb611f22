import assert from 'node:assert/strict'
import { before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import * as v from 'valibot'
import { updatePlan } from '../../../lib/accounts/users.ts'
import { loadAsset } from '../../../lib/assets/page-assets.ts'
import { DAY_MS, HOUR_MS } from '../../../lib/parts/durations.ts'
import { createTraffic } from '../../../scripts/demo-rum/traffic.ts'
import { assertAccessible, SCREENS } from '../../pages/accessible.ts'
import { shared } from '../../support/scene/freshly.ts'
import { freshClient } from '../../support/scene/send.ts'
import { browseSignedIn } from '../signed-in.ts'

const TIMEOUT_MS = 300_000
const SHOP = 'https://shop.example'

const { open, site } = browseSignedIn(shared, async ({ app, token }) => {
  // Each page makes two API calls, and the smallest plan allows ten requests a minute.
  await updatePlan(app.services.db, (await app.user('ada').row()).id, 'pro').run()
  const headers = { authorization: `Bearer ${token}` }
  await app.send('POST', '/v1/account/me/sites', { headers, body: { name: SHOP } })
})

/** Sends the beacons that a shop sends within an hour. */
async function sendTraffic(views: number): Promise<void> {
  const until = Date.now()
  const period = { from: until - HOUR_MS, until, viewsPerDay: views * 24, seed: 1 }
  const stack = `at <b>${' of a long name'.repeat(9)}`
  const errors = [{ message: '<b>broken</b>', source: `${SHOP}/app.js`, line: 3, stack }]
  for (const { origin, body, userAgent } of createTraffic({ origin: SHOP, ...period })) {
    await sendBeacon(body, { origin, 'user-agent': userAgent })
  }
  await sendBeacon(JSON.stringify({ path: '/x'.repeat(90), errors, metrics: { fid: 9 } }))
}

async function sendBeacon(
  body: string,
  headers: Record<string, string> = { origin: SHOP, 'user-agent': 'Mozilla/5.0' },
): Promise<void> {
  const from = freshClient()
  const { status } = await site.app.send('POST', '/v1/telemetry/rum', { body, headers, from })
  assert.equal(status, 204)
}

function openAll(page: Page): Promise<unknown> {
  return page.evaluate(`for (const one of document.querySelectorAll('details')) one.open = true`)
}

/** The width of the first chart, and the colours of its pixels. */
const PAINTED = `(() => {
  const canvas = document.querySelector('.plot canvas')
  const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
  const colors = new Set(new Uint32Array(data.buffer))
  return { width: canvas.clientWidth, colors: colors.size, list: [...colors].slice(0, 50).join() }
})()`

/** For each column of pixels from the first to the last with the colour of p75, whether it has that colour. */
const LINE = `(() => {
  const canvas = document.querySelector('.plot canvas')
  const context = canvas.getContext('2d')
  const probe = new OffscreenCanvas(1, 1).getContext('2d')
  probe.fillStyle = getComputedStyle(canvas).getPropertyValue('--data').trim()
  probe.fillRect(0, 0, 1, 1)
  const [color] = new Uint32Array(probe.getImageData(0, 0, 1, 1).data.buffer)
  const pixels = new Uint32Array(context.getImageData(0, 0, canvas.width, canvas.height).data.buffer)
  const columns = Array.from({ length: canvas.width }, () => false)
  pixels.forEach((pixel, at) => { if (pixel === color) columns[at % canvas.width] = true })
  return columns.slice(columns.indexOf(true), columns.lastIndexOf(true) + 1)
})()`

async function paintedChart(page: Page) {
  const Painted = v.object({ width: v.number(), colors: v.number(), list: v.string() })
  return v.parse(Painted, await page.evaluate(PAINTED))
}

describe('the sites page in a browser', { timeout: TIMEOUT_MS }, () => {
  it('notices the first beacon without a reload', async () => {
    const { page, errors } = await open('/app/sites')
    await page.waitForSelector('.badge:text("Waiting")')
    await assertAccessible(page, 'waiting')
    const tops = await page.evaluate(`[...document.querySelectorAll('.item .badge')].map((badge) =>
      [badge.offsetTop, badge.offsetHeight].join())`)
    assert.equal(new Set(v.parse(v.array(v.string()), tops)).size, 1, 'the badges are level')
    await page.click('.item .menu summary')
    await assertAccessible(page, 'with its menu open')
    await page.keyboard.press('Escape')
    await page.click('summary:text("No beacons arriving?")')
    await page.evaluate(`document.querySelector('.hints').dataset.old = ''
      document.dispatchEvent(new Event('visibilitychange'))`)
    await page.waitForSelector('.hints:not([data-old])', { state: 'attached' })
    assert.ok(await page.locator('.hints').isVisible(), 'a refresh leaves open what is open')
    const gap = `getComputedStyle(document.querySelector('summary + .hints')).marginTop`
    assert.equal(await page.evaluate(gap), '12px', 'what is folded is apart from its summary')
    await sendBeacon(JSON.stringify({ metrics: { lcp: 900 } }))
    await page.waitForSelector('.badge:text("Receiving")')
    await page.waitForSelector('.beacon-state:has-text("1 beacon in the last 24 hours")')
    assert.equal(await page.locator('[data-refresh]').count(), 0)
    assert.deepEqual(errors, [])
  })

  it('sends no requests while it is hidden, and one as soon as it is shown again', async () => {
    const { page } = await open('/app/sites')
    const setHidden = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    await page.evaluate(`document.querySelector('.beacon-state').dataset.refresh = '5'
      document.querySelector('.beacon-state').textContent = 'old'`)
    await setHidden(true)
    assert.equal(await page.locator('.beacon-state').textContent(), 'old')
    await setHidden(false)
    await page.waitForSelector('.beacon-state:has-text("in the last 24 hours")')
  })
})

describe('the web vitals page in a browser', { timeout: TIMEOUT_MS }, () => {
  before(() => sendTraffic(150))

  for (const { name, options } of SCREENS) {
    it(`shows accessible charts: ${name}`, async () => {
      const { page, errors } = await open('/app/vitals?period=24h', options)
      await page.waitForSelector('.plot canvas')
      assert.equal(await page.locator('.plot canvas').count(), 1)
      await assertAccessible(page, 'many samples')
      await openAll(page)
      await assertAccessible(page, 'everything opened')
      assert.equal(await page.locator('b').count(), 0, 'markup in beacons is escaped')
      const { colors, width } = await paintedChart(page)
      assert.ok(colors > 5 && width > 200, `${colors} colours, ${width} pixels wide`)
      assert.deepEqual(errors, [])
      await page.goto(`${site.origin}/app/vitals?device=tablet&country=FR`)
      await assertAccessible(page, 'nothing measured')
    })
  }

  it('redraws charts when the colour scheme or the width changes', async () => {
    const { page, errors } = await open('/app/vitals?period=24h', { colorScheme: 'light' })
    await page.waitForSelector('.plot canvas')
    const before = await paintedChart(page)
    await page.emulateMedia({ colorScheme: 'dark' })
    while ((await paintedChart(page)).list === before.list) await sleep(50)
    await page.setViewportSize({ width: 390, height: 800 })
    while ((await paintedChart(page)).width >= before.width) await sleep(50)
    assert.equal(await page.locator('.plot canvas').count(), 1)
    assert.deepEqual(errors, [])
  })

  it('names the day under the pointer as the table does', async () => {
    const { page } = await open('/app/vitals?period=7d')
    await page.hover('.plot .u-over')
    const time = page.locator('.u-legend .u-series:first-child .u-value')
    await page.waitForFunction(
      `!document.querySelector('.u-legend .u-series:first-child .u-value').textContent.includes('–')`,
    )
    assert.match((await time.textContent()) ?? '', /^\d{1,2} [A-Z][a-z]{2}$/)
  })

  it('shows and hides the lines of a chart by the keyboard', async () => {
    const { page, errors } = await open('/app/vitals?period=24h')
    await page.waitForSelector('.plot canvas')
    const pressed = () => page.locator('.u-legend button[aria-pressed="true"]').allTextContents()
    assert.deepEqual(await pressed(), ['Values', 'p75'])
    assert.ok(await page.getByRole('img', { name: 'Chart of the table below' }).isVisible())
    await page.focus('.u-legend button:text("Values")')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    assert.deepEqual(await pressed(), ['Values', 'p50'])
    assert.deepEqual(await page.locator('tr.u-off button').allTextContents(), ['p75', 'p95'])
    await assertAccessible(page, 'other lines')
    await page.click('.u-legend button:text("p95")')
    assert.deepEqual(await pressed(), ['Values', 'p50', 'p95'])
    assert.deepEqual(errors, [])
  })

  it('dashes the line to a day that is not over', async () => {
    const { page } = await open('/app')
    const today = Math.floor(Date.now() / DAY_MS) * (DAY_MS / 1000)
    const days = [4, 3, 2, 1, 0].map((ago) => today - ago * (DAY_MS / 1000))
    await page.route('**/app/vitals*', async (route) => {
      const html = await (await route.fetch()).text()
      const points = days.map((day) => `<i data-point="${day} 1000 2000 3000 500"></i>`).join('')
      await route.fulfill({
        body: html
          .replace('<div class="plot"></div>', `$&${points}`)
          .replace(/data-from="\d+"/, `data-from="${days[0]}"`),
      })
    })
    await page.goto(`${site.origin}/app/vitals?period=7d`)
    await page.waitForSelector('.plot canvas')
    const painted = v.parse(v.array(v.boolean()), await page.evaluate(LINE))
    const quarter = Math.floor(painted.length / 4)
    const parts = [0, 1, 2, 3].map((at) => painted.slice(at * quarter + 6, (at + 1) * quarter - 6))
    const shares = parts.map((part) => part.filter(Boolean).length / part.length)
    assert.deepEqual(shares.slice(0, 3), [1, 1, 1])
    assert.ok(Math.abs((shares[3] ?? 0) - 0.5) < 0.1, `${shares[3]} of the last part`)
  })

  it('shows all numbers of a chart without a script', async () => {
    const { page } = await open('/app/vitals?period=24h', { javaScriptEnabled: false })
    await page.click('summary:text("LCP by hour as a table")')
    // The hour may have ended while the beacons were sent.
    const hours = await page.locator('figure[data-vital="lcp"] tbody tr').count()
    assert.ok(hours === 1 || hours === 2, `${hours} hours`)
    await page.selectOption('#period', '7d')
    await page.click('button:text("Show")')
    assert.match(page.url(), /period=7d/)
    await page.click('.switch a:has-text("Desktop")')
    await page.click('.tabs a:has-text("CLS")')
    await page.click('summary:text("CLS by day as a table")')
    await page.click('#report a:text("/shoes") >> nth=0')
    assert.match(page.url(), /device=desktop&path=%2Fshoes&metric=cls/)
    await page.click('.chips a')
    const chosen = await page.locator('.switch [aria-current]').textContent()
    assert.equal(chosen, 'Desktop No verdict yet')
  })

  it('shows its first figure without scrolling', async () => {
    for (const [viewport, most] of [
      [{ width: 1280, height: 800 }, 280],
      [{ width: 390, height: 844 }, 400],
    ] as const) {
      const { page } = await open('/app/vitals?period=24h', { viewport })
      const top = (await page.locator('.metric').first().boundingBox())?.y ?? Number.NaN
      assert.ok(top < most, `${top} px at ${viewport.width} px`)
    }
  })

  it('shows the bars of its figures at one height, each bound below its band', async () => {
    for (const width of [768, 1024, 1280]) {
      const { page } = await open('/app/vitals?period=24h', { viewport: { width, height: 800 } })
      const found = await page.evaluate(`[...document.querySelectorAll('.scale')].map((scale) => {
        const [good, poor] = [...scale.querySelectorAll('p > span')].map((bound) => {
          const range = document.createRange()
          range.selectNodeContents(bound.lastChild)
          return range.getBoundingClientRect()
        })
        return { top: scale.getBoundingClientRect().top, gap: poor.left - good.right }
      })`)
      const scales = v.parse(v.array(v.object({ top: v.number(), gap: v.number() })), found)
      assert.equal(scales.length, 3)
      assert.equal(new Set(scales.map(({ top }) => top)).size, 1, `level at ${width} px`)
      assert.ok(Math.min(...scales.map(({ gap }) => gap)) >= 8, `bounds are apart at ${width} px`)
    }
  })

  it('fills at most four screens until something is opened', async () => {
    for (const viewport of [
      { width: 1280, height: 800 },
      { width: 390, height: 844 },
    ]) {
      const { page } = await open('/app/vitals?period=24h', { viewport })
      await page.waitForSelector('.plot canvas')
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
      assert.ok(height <= 4 * viewport.height, `${height} px at ${viewport.width} px`)
    }
  })

  it('shows whole rows of its tables at 390 px', async () => {
    const { page } = await open('/app/vitals?period=24h', { viewport: { width: 390, height: 844 } })
    await openAll(page)
    const tables = page.locator('.share-table:visible')
    assert.ok((await tables.count()) >= 3)
    const wide = `[...document.querySelectorAll('.share-table')]
      .filter((table) => table.scrollWidth > table.clientWidth).length`
    assert.equal(await page.evaluate(wide), 0)
    const short = `[...document.querySelectorAll('.share-table tr')].filter((row) =>
      row.lastElementChild.getBoundingClientRect().right < row.getBoundingClientRect().right - 1)`
    assert.equal(await page.evaluate(`${short}.length`), 0, 'numbers end at the edge')
    const edges = `['.page-head', '.filters'].map((part) =>
      document.querySelector(part).getBoundingClientRect().right)`
    const [head, filters] = await page.evaluate<number[]>(edges)
    assert.equal(filters, head, 'the choices are as wide as the page')
  })

  it('shows another report as soon as a filter is changed, and keeps the focus and what is open', async () => {
    const { page, errors } = await open('/app/vitals?period=24h')
    await page.waitForSelector('.plot canvas')
    assert.equal(await page.locator('button:text("Show")').isVisible(), false)
    await page.click('summary:has(#technical)')
    await page.evaluate(`document.querySelector('#report').dataset.old = ''`)
    await page.focus('#period')
    await page.selectOption('#period', '28d')
    await page.waitForSelector('#report:not([data-old]) .plot canvas')
    assert.match(page.url(), /period=28d/)
    assert.equal(await page.evaluate('document.activeElement.id'), 'period')
    assert.ok(await page.locator('#curl').isVisible())
    await page.selectOption('#period', 'custom')
    await page.waitForURL(/period=custom&country=&from=\d{4}-\d\d-\d\d&to=\d/)
    await page.fill('#from', '')
    assert.match(page.url(), /from=\d/, 'waits for both days')
    assert.deepEqual(errors, [])
  })

  for (const width of [1280, 390]) {
    it(`has no field over another one: ${width} pixels wide`, async () => {
      const viewport = { width, height: 800 }
      const { page } = await open('/app/vitals?period=custom&from=2026-01-02&to=', { viewport })
      const over = `(() => {
        const boxes = [...document.querySelectorAll('.filters :is(input, select)')]
          .map((field) => ({ field, cell: field.parentElement.getBoundingClientRect() }))
        return boxes.filter(({ field, cell }) =>
          field.getBoundingClientRect().right > cell.right + 1).map(({ field }) => field.id)
      })()`
      assert.deepEqual(await page.evaluate(over), [])
      await assertAccessible(page, 'a missing day')
      const labels = await page
        .locator('.filters label')
        .evaluateAll((all) => all.map((label) => label.getBoundingClientRect()).map(({ y }) => y))
      assert.equal(new Set(labels).size, width > 500 ? 1 : 2, 'labels in a row')
    })
  }

  it('loads at most 60 kB of scripts', async () => {
    const [app, vitals] = await Promise.all([loadAsset('app.js'), loadAsset('vitals.js')])
    assert.ok(app.gzipped.length + vitals.gzipped.length <= 60_000)
  })
})
