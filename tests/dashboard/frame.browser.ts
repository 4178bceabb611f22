import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import * as v from 'valibot'
import { assertAccessible, SCREENS } from '../pages/accessible.ts'
import { shared } from '../support/scene/freshly.ts'
import { browseSignedIn } from './signed-in.ts'

const TIMEOUT_MS = 240_000
const PHONE = { viewport: { width: 390, height: 800 } }
/** Of a target for a finger (WCAG 2.2, success criterion 2.5.5). */
const LEAST_HEIGHT = 44

/** The longest labels of a host, and no place to break. */
const LONG_SITE = `https://${Array.from({ length: 3 }, () => 'w'.repeat(60)).join('.')}.example`

const { site, open } = browseSignedIn(shared, async ({ app, token }) => {
  const headers = { authorization: `Bearer ${token}` }
  await app.send('POST', '/v1/account/me/sites', { headers, body: { name: LONG_SITE } })
  await app.send('POST', '/v1/account/me/keys', { headers, body: { name: 'W'.repeat(60) } })
})

describe('the menu of the dashboard', { timeout: TIMEOUT_MS }, () => {
  it('opens on a phone without JavaScript, and leads to every page', async () => {
    const { page } = await open('/app', { ...PHONE, javaScriptEnabled: false })
    assert.equal(await page.isVisible('nav.groups'), false)
    await page.click('button:has-text("Menu")')
    const links = await page.locator('nav.groups a').all()
    assert.equal(links.length, 10)
    for (const link of links) assert.ok(await isFingerHigh(link), `${await link.textContent()}`)
    await page.click('nav.groups a:has-text("Keys")')
    await page.waitForURL(/\/app\/keys$/)
    assert.equal(await page.isVisible('nav.groups'), false)
  })

  it('works with the keyboard: Escape closes it, and the focus returns', async () => {
    const { page } = await open('/app', PHONE)
    await page.focus('button:has-text("Menu")')
    await page.keyboard.press('Enter')
    await page.waitForSelector('nav.groups', { state: 'visible' })
    await page.keyboard.press('Tab')
    assert.equal(await focused(page), 'Overview')
    await page.keyboard.press('Escape')
    assert.equal(await page.isVisible('nav.groups'), false)
    assert.equal(await focused(page), 'Menu')
  })

  it('is always shown on wide screens, and stays while the page scrolls', async () => {
    const { page } = await open('/app/keys', { viewport: { width: 1280, height: 500 } })
    assert.equal(await page.isVisible('button:has-text("Menu")'), false)
    await page.evaluate('scrollTo(0, document.body.scrollHeight)')
    assert.ok(((await page.locator('nav.groups a').first().boundingBox())?.y ?? -1) > 0)
  })

  it('signs out from the menu of the account, which has the whole address', async () => {
    const { page } = await open('/app', { ...PHONE, javaScriptEnabled: false })
    await page.click('button:has-text("Your account")')
    assert.equal(await page.textContent('#who .user'), 'ada@example.com')
    const beyond = 'who.scrollWidth - who.clientWidth'
    assert.equal(await page.evaluate(beyond), 0)
    assert.ok(await page.isVisible('#who button:has-text("Sign out")'))
  })
})

/** Of the menu of the account, and of a card. */
const SHADOWS = `['#who', 'main .card'].map((selector) =>
  getComputedStyle(document.querySelector(selector)).boxShadow)`

describe('the menus when they are open', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`are accessible: ${name}`, async () => {
      const { page, errors } = await open('/app', options)
      const names = options.viewport.width < 500 ? ['Menu', 'Your account'] : ['Your account']
      for (const text of names) {
        await page.click(`button:has-text("${text}")`)
        await assertAccessible(page, text)
        await page.keyboard.press('Escape')
      }
      const [menu, card] = v.parse(v.array(v.string()), await page.evaluate(SHADOWS))
      assert.notEqual(menu, card, 'what opens over the cards is lifted from them')
      assert.deepEqual(errors, [])
    })
  }
})

/** The widths of the ten figures in a table. */
const MEASURE_DIGITS = `(() => {
  const table = document.createElement('table')
  document.body.append(table)
  const text = table.insertRow().insertCell().appendChild(document.createElement('span'))
  return [...'0123456789'].map((digit) => {
    text.textContent = digit.repeat(20)
    return Math.round(text.getBoundingClientRect().width * 10)
  })
})()`

describe('the type of all pages', { timeout: TIMEOUT_MS }, () => {
  it('is the font of this service, with figures of one width in tables', async () => {
    const { page } = await open('/app/usage')
    const isLoaded = 'document.fonts.ready.then(() => document.fonts.check("16px Geist"))'
    assert.equal(await page.evaluate(isLoaded), true)
    const widths = v.parse(v.array(v.number()), await page.evaluate(MEASURE_DIGITS))
    assert.equal(new Set(widths).size, 1, widths.join(' '))
  })
})

/** Selects whose choice is wider than the room between their padding, by which they cut it. */
const CUT_CHOICES = `[...document.querySelectorAll('select')].flatMap((select) => {
  const style = getComputedStyle(select)
  const text = document.createElement('span')
  text.style.font = style.font
  Object.assign(text.style, { position: 'absolute', whiteSpace: 'nowrap' })
  text.textContent = select.selectedOptions[0].text
  document.body.append(text)
  const { width } = text.getBoundingClientRect()
  text.remove()
  const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight)
  return width > room ? [select.name + ': ' + select.selectedOptions[0].text] : []
})`

/** Whether the picture of the first select's arrow loads, and is the same in all. */
const ARROW = `(async () => {
  const pictures = [...document.querySelectorAll('select')].map(
    (select) => getComputedStyle(select).backgroundImage)
  const [, source] = /^url\\("(.*)"\\)$/s.exec(pictures[0]) ?? []
  const arrow = new Image()
  arrow.src = source.replaceAll('\\\\"', '"')
  await arrow.decode()
  return new Set(pictures).size === 1 && arrow.naturalWidth > 0
})()`

describe('the selects', { timeout: TIMEOUT_MS }, () => {
  it('cut no choice on phones', async () => {
    for (const path of ['/app/usage', '/app/vitals', '/app/audit']) {
      const { page } = await open(path, PHONE)
      assert.ok((await page.locator('select').count()) > 0, path)
      assert.deepEqual(await page.evaluate(CUT_CHOICES), [], path)
    }
  })

  it('have an arrow that the policy of the page lets load, also with forced colours', async () => {
    for (const forcedColors of ['none', 'active'] as const) {
      const { page, errors } = await open('/app/usage', { ...PHONE, forcedColors })
      assert.equal(await page.evaluate(ARROW), true)
      assert.deepEqual(errors, [])
    }
  })
})

const PAGES = [
  '/',
  '/docs',
  '/app/sign-in',
  '/app/sign-up',
  '/app',
  '/app/keys',
  '/app/look-up?ip=81.2.69.160',
  '/app/usage',
  '/app/account',
  '/app/batch',
  '/app/vitals',
]

describe('long names without a space', { timeout: TIMEOUT_MS }, () => {
  for (const width of [1280, 320]) {
    it(`do not widen the page: ${width} pixels wide`, async () => {
      const vitals = `/app/vitals?${new URLSearchParams({ site: LONG_SITE })}`
      for (const path of ['/app', '/app/keys', '/app/sites', '/app/usage', vitals]) {
        const { page } = await open(path, { viewport: { width, height: 800 } })
        for (const menu of await page.locator('main .menu > summary').all()) await menu.click()
        const beyond = 'document.documentElement.scrollWidth - innerWidth'
        assert.equal(await page.evaluate(beyond), 0, path)
      }
    })
  }
})

describe('the layout while a page loads', { timeout: TIMEOUT_MS }, () => {
  for (const width of [1280, 390]) {
    it(`does not shift, by the measure that we sell: ${width} pixels wide`, async () => {
      for (const path of PAGES) {
        const { page } = await open(path, { viewport: { width, height: 800 } })
        assert.equal(await shiftOf(page), 0, path)
      }
    })

    it(`does not shift as its parts arrive: ${width} pixels wide`, async () => {
      for (const path of PAGES) {
        const { page } = await open(path, { viewport: { width, height: 800 } })
        assert.deepEqual(await page.evaluate(SHIFTS_IN_PARTS), [], path)
      }
    })
  }
})

/**
 * What moves on a slow line, when the browser paints the page before one of its blocks has come. Not within tables: the
 * widths of their columns depend on all rows.
 */
const SHIFTS_IN_PARTS = `(async () => {
  const html = await (await fetch(location)).text()
  const blocks = /<(?:main|section|form|fieldset|figure|footer|table|p|h2|div class="field|button type="submit)/g
  const body = html.indexOf('<body')
  const shifts = []
  const observer = new PerformanceObserver((list) => shifts.push(...list.getEntries()))
  observer.observe({ type: 'layout-shift' })
  const frame = () => new Promise((done) => requestAnimationFrame(done))
  const styled = () => Promise.all([...document.querySelectorAll('link[rel=stylesheet]')]
    .filter(({ sheet }) => sheet === null)
    .map((link) => new Promise((done) => link.addEventListener('load', done))))
  const painted = async () => {
    await styled()
    for (let frames = 0; frames < 3; frames++) await frame()
  }
  const moved = []
  const isInTable = (at) => html.lastIndexOf('<table', at) > html.lastIndexOf('</table', at)
  const cuts = [...html.matchAll(blocks)].map(({ index }) => index)
    .filter((index) => index > body && !isInTable(index - 1))
  const step = Math.ceil(cuts.length / 12)
  for (const cut of cuts.filter((_, at) => at % step === 0)) {
    document.open()
    document.write(html.slice(0, cut))
    await painted()
    observer.takeRecords()
    shifts.length = 0
    document.write(html.slice(cut))
    document.close()
    await painted()
    shifts.push(...observer.takeRecords())
    if (shifts.length > 0) moved.push([html.slice(cut, cut + 60), ...shifts.map(({ value }) => value)])
  }
  return moved
})()`

const Sent = v.object({ metrics: v.object({ cls: v.number() }) })

/** CLS, as the script for other people's pages sends it when the page is hidden. */
async function shiftOf(page: Page): Promise<number> {
  const sent = page.waitForRequest('**/v1/telemetry/rum')
  await page.addScriptTag({ url: `${site.origin}/rum.js` })
  const isPainted = 'new PerformanceObserver(done).observe({ type: "paint", buffered: true })'
  await page.evaluate(`new Promise((done) => ${isPainted})`)
  await page.evaluate(`
    Object.defineProperty(document, 'visibilityState', { value: 'hidden' })
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
  return v.parse(Sent, (await sent).postDataJSON()).metrics.cls
}

function focused(page: Page): Promise<string> {
  return page.evaluate('document.activeElement.textContent')
}

async function isFingerHigh(link: Locator): Promise<boolean> {
  return ((await link.boundingBox())?.height ?? 0) >= LEAST_HEIGHT
}
