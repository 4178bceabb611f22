import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Page } from 'playwright-core'
import { operations } from '../../../lib/contract/operations.ts'
import { GUIDES, guidePath, operationPath } from '../../../pages/reference/contents.ts'
import { PASSWORD } from '../../support/sign-in.ts'
import { assertAccessible, SCREENS } from '../accessible.ts'
import { browseInside } from '../inside.ts'

const TIMEOUT_MS = 600_000
const MOST_PIXELS = 1_500
const LOCATE = '/docs/operations/locateAddress'

const { site, open, outsideRequests } = browseInside()

async function send(page: Page): Promise<string> {
  await page.click('#try button')
  await page.waitForSelector('#answer:not([aria-busy]) > *')
  return (await page.textContent('#answer')) ?? ''
}

/** Titles that can be seen in the list of pages. */
function shownTitles(page: Page): Promise<string[]> {
  return page.locator('.pages li a:visible').allTextContents()
}

/** The words of codes that are broken. */
const BROKEN_WORDS = `[...document.querySelectorAll('th code')].flatMap((code) =>
  [...code.childNodes].filter((node) => {
    const range = document.createRange()
    range.selectNode(node)
    return node.nodeType === Node.TEXT_NODE && range.getClientRects().length > 1
  }).map((node) => node.data)
)`

describe('the API reference', { timeout: TIMEOUT_MS }, () => {
  it('breaks codes between their words only, and fits narrow phones', async () => {
    for (const width of [320, 390]) {
      const { page } = await open(guidePath('errors'), { viewport: { width, height: 800 } })
      assert.deepEqual(await page.evaluate(BROKEN_WORDS), [], `${width} pixels`)
      const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      assert.equal(beyond, 0, `${width} pixels`)
    }
  })

  for (const { name, options } of SCREENS) {
    it(`is accessible, and sends requests with the reader's key: ${name}`, async () => {
      const key = await site.app.makeKey()
      const { page, errors } = await open('/docs', options)
      await assertAccessible(page, 'the first page')
      await page.goto(`${site.origin}/docs?q=city`)
      await assertAccessible(page, 'results of a search')
      for (const guide of GUIDES) {
        await page.goto(`${site.origin}${guidePath(guide.name)}`)
        await assertAccessible(page, guide.title)
      }
      await page.goto(`${site.origin}${LOCATE}`)
      await page.fill('#key', key)
      await page.click('#try > summary')
      assert.match(await send(page), /^200.*"city": "London"/s)
      await page.evaluate(
        "for (const one of document.querySelectorAll('main details')) one.open = true",
      )
      assert.match((await page.textContent('#answer')) ?? '', /ratelimit: "per-key";r=\d+/)
      await assertAccessible(page, 'an operation with everything unfolded')
      assert.deepEqual([outsideRequests(), errors], [[], []])
    })
  }

  it(`has one screen per operation: at most ${MOST_PIXELS} pixels`, async () => {
    const { page } = await open('/docs', { viewport: { width: 1280, height: 800 } })
    const tall: string[] = []
    for (const row of operations) {
      await page.goto(`${site.origin}${operationPath(row)}`)
      const height = Number(await page.evaluate('document.documentElement.scrollHeight'))
      const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      if (height > MOST_PIXELS || beyond !== 0) tall.push(`${row.id}: ${height}, ${beyond}`)
    }
    assert.deepEqual(tall, [])
  })

  it('lists its pages in columns, large enough for a finger, with the path below the title', async () => {
    const lists = `[...document.querySelectorAll('main .operations:not(details *)')].map((list) => ({
      columns: getComputedStyle(list).gridTemplateColumns.split(' ').length,
      least: Math.min(...[...list.querySelectorAll('a')].map((one) => one.offsetHeight)),
      beside: [...list.querySelectorAll('a > span')].filter(
        (path) => path.offsetLeft !== path.parentElement.offsetLeft,
      ).length,
    }))`
    for (const [width, columns] of [
      [1280, 2],
      [320, 1],
    ] as const) {
      const { page } = await open('/docs', { viewport: { width, height: 800 } })
      const found: unknown = await page.evaluate(lists)
      assert.ok(Array.isArray(found) && found.length > 4)
      for (const list of found) {
        assert.deepEqual({ ...list, least: list.least >= 44 }, { columns, least: true, beside: 0 })
      }
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
      const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      assert.equal(beyond, 0, `${width} pixels, unfolded`)
    }
  })

  it('sets a short description apart from the type before it', async () => {
    const { page } = await open(LOCATE, { viewport: { width: 1280, height: 800 } })
    const gaps: unknown = await page.evaluate(`[...document.querySelectorAll('.about')]
      .filter((about) => about.textContent !== '' && about.checkVisibility())
      .map((about) => [about, about.previousElementSibling].map((one) => one.getBoundingClientRect()))
      .filter(([about, type]) => about.top < type.bottom)
      .map(([about, type]) => about.left - type.right)`)
    assert.ok(Array.isArray(gaps) && gaps.length > 0)
    assert.ok(Math.min(...gaps) >= 12, gaps.join())
  })

  it('is never wider than a phone', async () => {
    const { page } = await open('/docs', { viewport: { width: 390, height: 800 } })
    const wide: string[] = []
    for (const row of operations) {
      await page.goto(`${site.origin}${operationPath(row)}`)
      await page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
      const beyond = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      if (beyond !== 0) wide.push(`${row.id}: ${beyond}`)
    }
    assert.deepEqual(wide, [])
  })

  it('fills the samples with a key, and keeps it for the tab alone', async () => {
    const key = await site.app.makeKey()
    const { page } = await open(LOCATE)
    const sample = () => page.textContent('#sample-curl')
    assert.match((await sample()) ?? '', /YOUR_API_KEY/)
    await page.fill('#key', `sk_live_'; rm -rf`)
    assert.match((await sample()) ?? '', /YOUR_API_KEY/)
    await page.fill('#key', key)
    assert.ok((await sample())?.includes(`X-API-Key: ${key}'`))
    await page.goto(`${site.origin}/docs/operations/getTimezone`)
    assert.ok((await sample())?.includes(key))
    assert.ok((await page.textContent('#sample-go'))?.includes(key))
    assert.deepEqual(await page.evaluate('Object.keys(localStorage)'), [])
    const other = await open(LOCATE)
    assert.match((await other.page.textContent('#sample-curl')) ?? '', /YOUR_API_KEY/)
  })

  it('changes the language by keyboard, and remembers it', async () => {
    const { page } = await open(LOCATE)
    await page.focus('[name="language"]:checked')
    await page.keyboard.press('ArrowRight')
    assert.equal(await page.isVisible('#sample-typescript'), true)
    assert.equal(await page.isVisible('#sample-curl'), false)
    await page.goto(`${site.origin}/docs/operations/getHealth`)
    assert.equal(await page.isVisible('#sample-typescript'), true)
  })

  it('filters the pages as the reader types, by fields too', async () => {
    const { page, errors } = await open('/docs')
    assert.deepEqual(await shownTitles(page), [])
    await page.fill('#q', 'accuracyradius')
    await page.locator('#found:not(:empty)').waitFor()
    const titles = await shownTitles(page)
    const isFound = titles.some((title) => title.startsWith('Locate an address'))
    assert.ok(isFound, titles.join())
    assert.ok(titles.length < 10)
    assert.match((await page.textContent('#found')) ?? '', /^\d pages$/)
    await page.fill('#q', '')
    await page.locator('#found:empty').waitFor({ state: 'attached' })
    assert.deepEqual(await shownTitles(page), [])
    assert.deepEqual(errors, [])
  })

  it('opens the group of the page in the list', async () => {
    const { page } = await open(LOCATE)
    const { length } = await shownTitles(page)
    assert.equal(length, operations.filter(({ tag }) => tag === 'Geolocation').length)
  })

  it('shows the first level of an answer, and others on demand', async () => {
    const { page } = await open(LOCATE, { javaScriptEnabled: false })
    const fields = page.locator('.reply .fields :is(li, summary) > code:first-child')
    const shown = () => fields.locator('visible=true').allTextContents()
    const result = ['query', 'hostname', 'location', 'network', 'privacy', 'sources', 'meta']
    assert.deepEqual(await shown(), result)
    await page.click('.reply summary:has(> code:text-is("query"))')
    assert.deepEqual((await shown()).slice(0, 3), ['query', 'type', 'value'])
  })

  it('shows errors of the API, and sends public requests without a key', async () => {
    const { page } = await open(LOCATE)
    await page.click('#try > summary')
    await page.selectOption('#try-as', 'key')
    assert.match(await send(page), /^401.*"UNAUTHORIZED"/s)
    await page.goto(`${site.origin}/docs/operations/getHealth`)
    await page.click('#try > summary')
    assert.match(await send(page), /^200.*"geolocation": true/s)
  })

  it('sends requests with the session of the dashboard, until a key is entered', async () => {
    const { page } = await open('/docs/operations/getProfile')
    await page.click('#try > summary')
    assert.match(await send(page), /signed out/)
    await page.goto(`${site.origin}/app/sign-up`)
    await page.fill('[name="name"]', 'Ada')
    await page.fill('[name="email"]', 'ada@example.com')
    await page.fill('[name="password"]', PASSWORD)
    await page.click('main button[type="submit"]')
    await page.waitForURL(`${site.origin}/app`)
    await page.goto(`${site.origin}/docs/operations/getProfile`)
    await page.click('#try > summary')
    assert.match(await send(page), /^200.*"email": "ada@example\.com"/s)
    await page.fill('#key', `sk_live_${'0'.repeat(64)}`)
    assert.equal(await page.inputValue('#try-as'), 'key')
    assert.match(await send(page), /^401.*"UNAUTHORIZED"/s)
  })

  it('works under any host name of the server', async () => {
    const { page } = await open('/')
    await page.context().unrouteAll()
    const other = site.origin.replace('127.0.0.1', 'localhost')
    await page.goto(`${other}/docs/operations/getHealth`)
    await page.click('#try > summary')
    assert.match(await send(page), /^200/)
  })

  it('can be read, searched and copied from without JavaScript', async () => {
    const { page } = await open(LOCATE, { javaScriptEnabled: false })
    assert.equal(await page.isVisible('#sample-curl'), true)
    assert.equal(await page.isVisible('#try'), false)
    assert.equal(await page.isVisible('#key'), false)
    await page.click('label:has-text("Python")')
    assert.equal(await page.isVisible('#sample-python'), true)
    await page.fill('#q', 'renewKey')
    await page.press('#q', 'Enter')
    await page.waitForURL(/\?q=renewKey/)
    await page.click('main a:has-text("Reset the expiry of a key")')
    assert.match((await page.textContent('h1')) ?? '', /Reset the expiry/)
  })
})
