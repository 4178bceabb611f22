import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { csvParse } from 'd3-dsv'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { assertAccessible, SCREENS } from '../pages/accessible.ts'
import { openBrowser, type TestBrowser, type Visitor } from '../pages/browser.ts'
import { openSite, type Site } from '../pages/site.ts'
import { signUp } from '../support/sign-in.ts'

const TIMEOUT_MS = 300_000

let browser: TestBrowser
let site: Site
let token: string
let opened: Visitor[]
before(async () => {
  browser = await openBrowser()
})
after(() => browser.close())
beforeEach(async () => {
  site = await openSite()
  token = await signUp(site.app)
  opened = []
})
afterEach(async () => {
  for (const { page } of opened) await page.context().close()
  await site[Symbol.asyncDispose]()
})

/** Opens a page of the dashboard for a signed-in user. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  const visitor = await browser.visitor(options)
  opened.push(visitor)
  const cookie = { name: 'meridian_dashboard', value: token, url: `${site.origin}/app` }
  await visitor.page.context().addCookies([cookie])
  await visitor.page.goto(`${site.origin}${path}`)
  return visitor
}

/** Drops a file on the page. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  await page.evaluate(
    `{
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}))
      for (const type of ['dragover', 'drop']) {
        const event = new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true })
        document.querySelector('main').dispatchEvent(event)
      }
    }`,
  )
}

async function download(page: Page, name: string): Promise<string> {
  const [file] = await Promise.all([page.waitForEvent('download'), page.click(`text=${name}`)])
  return readFile(await file.path(), 'utf8')
}

function announced(page: Page, text: string) {
  return page.waitForSelector(`#message:has-text("${text}")`)
}

describe('the look-up page', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible, and shows the place on the map: ${name}`, async () => {
      const { page, errors } = await open('/app/look-up', options)
      await assertAccessible(page, 'nothing looked up')
      await page.fill('#ip', '81.2.69.160')
      await page.click('#look-up button')
      await page.waitForSelector('.place-map')
      await assertAccessible(page, 'a result')
      const at = await page.locator('.place-map svg:nth-of-type(2) .point').boundingBox()
      const world = await page.locator('.place-map svg:nth-of-type(2)').boundingBox()
      assert.ok(at && world)
      const [x, y] = [at.x + at.width / 2 - world.x, at.y + at.height / 2 - world.y]
      assert.ok(Math.abs(x / world.width - (180 - 0.0931) / 360) < 0.005)
      assert.ok(Math.abs(y / world.height - (90 - 51.5142) / 180) < 0.005)
      await page.goto(`${site.origin}/app/look-up?ip=10.0.0.1`)
      await assertAccessible(page, 'nothing known')
      assert.deepEqual(errors, [])
      await page.goto(`${site.origin}/app/look-up?ip=nope`)
      await assertAccessible(page, 'an invalid address')
    })
  }

  it('loads its world map', async () => {
    const { page } = await open('/app/look-up?ip=81.2.69.160')
    const href = await page.getAttribute('.place-map image', 'href')
    const size = await page.evaluate(
      `new Promise((resolve, reject) => {
        const image = new Image()
        image.onload = () => resolve([image.naturalWidth > 0, image.naturalHeight > 0])
        image.onerror = reject
        image.src = ${JSON.stringify(href)}
      })`,
    )
    assert.deepEqual(size, [true, true])
  })
})

describe('the batch page', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible, and looks up typed addresses: ${name}`, async () => {
      const { page, errors } = await open('/app/batch', options)
      await assertAccessible(page, 'nothing looked up')
      await page.click('#batch button')
      await announced(page, 'Enter an address or choose a file.')
      assert.ok(!(await page.isVisible('#progress')))
      await page.fill('#addresses', '81.2.69.160\n<img src=x onerror=alert(1)>\n10.0.0.1')
      await page.click('#batch button')
      await announced(page, 'Done: 3 rows, 1 row without a valid address.')
      assert.equal(
        await page.textContent('#errors'),
        'Row 2 has no valid address: “<img src=x onerror=alert(1)>”',
      )
      await assertAccessible(page, 'a result')
      assert.deepEqual(errors, [])
    })
  }

  it('accepts a dropped file, and offers its results as CSV and JSON Lines', async () => {
    const { page, errors } = await open('/app/batch')
    const file = 'when,who,ip\n1,"Doe, Jo",81.2.69.160\n2,Ada,=1+1\n3,Eve,16.0.0.1\n'
    await drop(page, 'visitors.csv', file)
    for (const box of await page.$$('[name=column]:not([value=city]):not([value=latitude])')) {
      await box.uncheck()
    }
    const [request] = await Promise.all([
      page.waitForRequest('**/app/batch'),
      page.click('#batch button'),
    ])
    assert.deepEqual(request.postDataJSON(), {
      ips: ['81.2.69.160', '16.0.0.1'],
      fields: ['query', 'location.city', 'location.coordinates.latitude'],
    })
    await announced(page, 'Done: 3 rows, 1 row without a valid address.')
    const csv = csvParse(await download(page, 'Download CSV'))
    assert.deepEqual(csv.columns, ['row', 'ip', 'city', 'latitude', 'error'])
    assert.deepEqual(
      csv.map(({ row, ip, city, latitude }) => [row, ip, city, latitude]),
      [
        ['2', '81.2.69.160', 'London', '51.5142'],
        ['3', "'=1+1", '', ''],
        ['4', '16.0.0.1', 'São "Paulo" 🌆', '-23.55'],
      ],
    )
    const lines = (await download(page, 'Download JSON Lines')).trim().split('\n')
    assert.deepEqual(JSON.parse(lines[0] ?? ''), {
      row: 2,
      query: { type: 'ip', value: '81.2.69.160', ipVersion: 4 },
      location: { city: 'London', coordinates: { latitude: 51.5142 } },
    })
    assert.deepEqual(errors, [])
  })

  it('waits until the limit allows more, stops on request, and continues from there', async () => {
    const { page } = await open('/app/batch')
    let refused = 0
    await page.route('**/app/batch', (route) => {
      const { ips } = route.request().postDataJSON()
      if (refused === 0 && ips.includes('10.0.3.232')) {
        refused += 1
        return route.fulfill({ status: 429, headers: { 'retry-after': '600' } })
      }
      const results = ips.map((value: string) => ({ query: { value }, location: { city: 'X' } }))
      return route.fulfill({ json: { results, meta: { degraded: false } } })
    })
    const rows = Array.from({ length: 1_500 }, (_, n) => `10.0.${n >> 8}.${n & 255}`)
    await page.fill('#addresses', rows.join('\n'))
    await page.click('#batch button')
    await announced(page, 'You have reached the per-minute limit')
    await page.waitForSelector('#counted:has-text("1,000 of 1,500 rows, continuing in")')
    await assertAccessible(page, 'waiting')
    assert.equal(await page.evaluate('document.activeElement.id'), 'stop')
    await page.keyboard.press('Enter')
    await announced(page, 'Stopped.')
    assert.equal(await page.evaluate('document.activeElement.id'), 'go-on')
    assert.equal(csvParse(await download(page, 'Download CSV')).length, 1_000)
    await page.click('#go-on')
    await announced(page, 'Done: 1,500 rows.')
    const csv = csvParse(await download(page, 'Download CSV'))
    assert.deepEqual(
      csv.map(({ ip }) => ip),
      rows,
    )
  })

  it('says that the user is signed out', async () => {
    const { page } = await open('/app/batch')
    await page.context().clearCookies()
    await page.fill('#addresses', '81.2.69.160')
    await page.click('#batch button')
    await announced(page, 'You are signed out')
    assert.ok(await page.isVisible('#go-on'))
  })

  it('answers with a page without JavaScript', async () => {
    const { page } = await open('/app/batch', { javaScriptEnabled: false })
    assert.ok(!(await page.isVisible('#file')))
    await page.fill('#addresses', '81.2.69.160\nnope')
    await page.click('#batch button')
    await page.waitForSelector('.answers')
    assert.match((await page.textContent('.answers')) ?? '', /81\.2\.69\.160GBUnited Kingdom/)
  })
})

describe('the audit log page', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible, and finds matching entries: ${name}`, async () => {
      const headers = { authorization: `Bearer ${token}` }
      const body = { name: `${'Long'.repeat(20)} name` }
      await site.app.send('POST', '/v1/account/me/keys', { headers, body })
      const { page, errors } = await open('/app/audit', options)
      await assertAccessible(page, 'all entries')
      await page.selectOption('#action', 'create_key')
      await page.fill('#search', 'longlong')
      await page.click('.audit-filter button')
      await page.waitForURL(/search=longlong/)
      assert.equal(await page.locator('.entry').count(), 1)
      await assertAccessible(page, 'some entries')
      await page.goto(`${site.origin}/app/audit?search=nothing`)
      await assertAccessible(page, 'no entry')
      assert.deepEqual(errors, [])
    })
  }
})
