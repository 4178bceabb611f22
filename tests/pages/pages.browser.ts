import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { DEMO_PLAN } from '../../lib/config/plans.ts'
import { toCapShares } from '../../lib/contract/account/cap-shares.ts'
import { assertAccessible, SCREENS } from './accessible.ts'
import { browseInside } from './inside.ts'

const TIMEOUT_MS = 300_000
const OTHER_ADDRESS = '2001:db8:1::1'

const { site, open, outsideRequests } = browseInside()

async function typeAddress(page: Page, text: string): Promise<void> {
  await page.fill('#ip', text)
  await page.click('#look-up button')
}

async function textOf(page: Page, selector: string): Promise<string> {
  return (await page.textContent(selector)) ?? ''
}

function answerOf(page: Page): Promise<string> {
  return textOf(page, '#answer')
}

/** Asserts that the form loads a page with the answer, instead of asking the API. */
async function assertSubmits(page: Page): Promise<void> {
  const loaded = page.waitForEvent('load')
  await typeAddress(page, '81.2.69.160')
  await loaded
  assert.match(await answerOf(page), /Looked up81\.2\.69\.160London/)
  assert.equal(await page.locator('.request').count(), 0)
}

describe('the landing page', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`is accessible: ${name}`, async () => {
      const { page, errors } = await open('/', options)
      await page.click('summary')
      await assertAccessible(page, 'a result')
      await typeAddress(page, OTHER_ADDRESS)
      await page.waitForSelector(`h2:has-text("${OTHER_ADDRESS}")`)
      await assertAccessible(page, 'nothing known')
      assert.deepEqual(outsideRequests(), [])
      const others = errors.filter((text) => !text.includes('404'))
      assert.deepEqual(others, [])
      await page.goto(`${site.origin}/?ip=nope`)
      await assertAccessible(page, 'an invalid address')
    })
  }

  it('is no wider than a narrow phone', async () => {
    for (const width of [320, 360]) {
      const { page } = await open('/', { viewport: { width, height: 800 } })
      const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      assert.equal(beyond, 0, `${width} pixels`)
    }
  })

  it('ends each plan below its limits where nothing is sold', async () => {
    const { page } = await open('/', { viewport: { width: 1280, height: 800 } })
    const feet = `[...document.querySelectorAll('.plans .card')].map((card) =>
      card.getBoundingClientRect().bottom
        - card.lastElementChild.getBoundingClientRect().bottom
        - parseFloat(getComputedStyle(card).paddingBottom)
        - parseFloat(getComputedStyle(card).borderBottomWidth))`
    const shown = await page.evaluate<number[]>(feet)
    assert.deepEqual(
      shown.map((foot) => Math.round(foot)),
      shown.map(() => 0),
    )
    assert.ok(shown.length > 1)
  })

  it('locates the visitor and looks up typed addresses without JavaScript', async () => {
    const { page } = await open('/', { javaScriptEnabled: false })
    assert.match(await answerOf(page), /Your address81\.2\.69\.160London, City of London, England/)
    await typeAddress(page, OTHER_ADDRESS)
    await page.waitForURL(/\?ip=/)
    assert.match(await answerOf(page), /Looked up2001:db8:1::1/)
  })

  it('looks up typed addresses through the public API with the demo key', async () => {
    const { page, errors } = await open('/')
    await typeAddress(page, ' 81.2.69.160 ')
    await page.waitForSelector('.request', { state: 'attached' })
    assert.match(await answerOf(page), /Looked up81\.2\.69\.160London, City of London, England/)
    assert.equal(new URL(page.url()).search, '?ip=81.2.69.160')
    const { meters } = site.app.services
    assert.equal(meters.periodRequests({ userId: 'demo', paid: null }, Date.now()), 1)
    assert.deepEqual(errors, [])
  })

  it('looks up a sample with a click, and shows it on the map', async () => {
    const { page, errors } = await open('/')
    await page.click('[data-sample="81.2.69.160"]')
    await page.waitForSelector('.request', { state: 'attached' })
    assert.match(await answerOf(page), /Looked up81\.2\.69\.160London/)
    const map = page.locator('#answer svg[role="img"] image').first()
    assert.ok(((await map.boundingBox())?.width ?? 0) > 0)
    assert.equal(await page.inputValue('#ip'), '81.2.69.160')
    assert.deepEqual(errors, [])
  })

  it('escapes markup in results', async () => {
    const { page, errors } = await open('/')
    const city = '<img src="/x" onerror="document.title = 1">'
    const location = { continent: { code: 'EU', name: 'Europe' }, city }
    const query = { type: 'ip', value: '192.0.2.1', ipVersion: 4 }
    await page.route('**/v1/ip/*', (route) => route.fulfill({ json: { query, location } }))
    await typeAddress(page, '192.0.2.1')
    await page.waitForSelector('.place:has-text("<img")')
    assert.equal(await page.locator('#answer img').count(), 0)
    assert.deepEqual(errors, [])
  })

  it('submits the form once the demo key has reached its limit', async () => {
    const { page } = await open('/')
    const key = await site.app.services.openDemo()
    const headers = { origin: site.origin, 'x-api-key': key ?? '' }
    const spent = Array.from({ length: DEMO_PLAN.requestsPerMinute }, () =>
      fetch(`${site.origin}/v1/ip/81.2.69.160`, { headers }),
    )
    await Promise.all(spent)
    await page.route('**/v1/ip/*', async (route) => {
      const answered = await route.fetch()
      // The bucket may have refilled meanwhile, so force the 429.
      await route.fulfill({ response: answered, status: 429 })
    })
    await assertSubmits(page)
  })

  it('submits the form once the demo key has reached its monthly cap', async () => {
    const { page } = await open('/')
    const demo = {
      userId: 'demo',
      plan: DEMO_PLAN,
      paid: null,
      capShares: toCapShares(null),
      key: null,
    }
    site.app.services.meters.open(demo, Date.now()).count(DEMO_PLAN.monthlyCap)
    await assertSubmits(page)
  })

  it('explains that the input is not an address', async () => {
    const { page } = await open('/')
    await typeAddress(page, '<b>nope</b>')
    await page.waitForSelector('.look-up-error')
    assert.match(await answerOf(page), /<b>nope<\/b> is neither an IPv4 address/)
    assert.equal(await page.getAttribute('#ip', 'aria-invalid'), 'true')
  })
})
