import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { openServerShop, type ServerShop } from '../billing/server-shop.ts'
import { assertAccessible, SCREENS } from '../pages/accessible.ts'
import { type Visitor, visitors } from '../pages/browser.ts'
import type { Running } from '../support/process.ts'
import { PASSWORD } from '../support/sign-in.ts'

/* A user of the real process, with the Stripe double, from sign-up to cancellation. */

const TIMEOUT_MS = 300_000
const CARD = '4242 4242 4242 4242'
const OTHER_CARD = '5555 5555 5555 4444'
const EMAIL = 'grace@example.com'
const SHOP = 'https://shop.example'

const openVisitor = visitors()
let shop: ServerShop
let server: Running
before(async () => {
  shop = await openServerShop({ starter: 9, pro: 29 })
  server = await shop.start({ MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' })
  shop.double.addWebhook(`${server.url}/v1/billing/webhook`, [shop.signingSecret])
})
after(() => shop[Symbol.asyncDispose]())

/** Each visitor has its own address, because sign-ins from one address are limited. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  addresses += 1
  const extraHTTPHeaders = { 'x-forwarded-for': `198.18.0.${addresses}` }
  const visitor = await openVisitor({ ...options, extraHTTPHeaders })
  await visitor.page.goto(`${server.url}${path}`)
  return visitor
}

let addresses = 0

async function signIn(page: Page): Promise<void> {
  await page.fill('#email', EMAIL)
  await page.fill('#password', PASSWORD)
  await page.click('main button')
}

describe('the dashboard', { timeout: TIMEOUT_MS }, () => {
  it('takes a newcomer from sign-up to a key that works', async () => {
    const { page, errors } = await open('/app')
    await page.click('text=Create an account')
    await page.fill('#name', 'Grace')
    await signIn(page)
    await page.click('text=Create a key')
    await page.waitForSelector('#raw-key')
    await assertAccessible(page, 'a new key')
    const key = (await page.textContent('#raw-key'))?.trim() ?? ''
    const headers = { 'x-api-key': key }
    const located = await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })
    assert.equal(located.status, 200)
    const copy = page.locator('[data-copy="raw-key"]')
    await copy.click()
    await sleep(500)
    await copy.click()
    await page.waitForSelector('[data-copy="raw-key"]:text-is("Copy")')
    await sleep(1_000)
    assert.equal((await copy.textContent())?.trim(), 'Copy', 'the button has its text again')
    assert.deepEqual(errors, [])
  })

  it('shows the signed-in user, and nobody after the sign-out', async () => {
    const { page } = await open('/app/keys')
    await signIn(page)
    await page.waitForURL(/\/app\/keys$/)
    assert.equal(await page.textContent('#who .user'), EMAIL)
    await page.click('button:has-text("Your account")')
    await page.click('#who >> text=Sign out')
    await page.waitForURL(/\/app\/sign-in$/)
    await page.goto(`${server.url}/app/keys`)
    assert.match(page.url(), /\/app\/sign-in\?next=/)
  })

  it('sells a plan, changes it for the amount shown, and cancels it', async () => {
    const { page } = await open('/app/billing')
    await signIn(page)
    await page.click('text=Subscribe to Starter')
    await page.waitForURL(/\/c\/pay\//)
    await page.fill('[name="card"]', CARD)
    // Until Stripe answers, neither the return nor an event can tell that the plan is paid.
    shop.double.failCalls({ kind: '403', method: 'GET' }, 1_000)
    await page.click('button')
    await page.waitForURL(/\/app\/billing\?checkout=done$/)
    await page.waitForSelector('text=as soon as the payment is confirmed')
    await page.waitForSelector('text=No subscription')
    shop.double.clearFaults()
    await page.waitForSelector('text=Your plan is active')
    await page.waitForSelector('[aria-labelledby="current"]:has-text("Starter")')
    assert.equal(await page.locator('[data-refresh]').count(), 0)
    await page.click('text=Change to Pro')
    await page.click('text=/^Change and pay \\$/')
    await page.waitForSelector('text=Your plan is changed')
    await page.click('summary:has-text("Cancel…")')
    await page.click('text=Cancel at the end of the period')
    await page.waitForSelector('text=active until the period ends')
    await page.click('text=Open the customer portal')
    await page.waitForURL(/\/p\/session\//)
    await page.waitForSelector('text=visa ending in 4242')
    await page.fill('[name="card"]', OTHER_CARD)
    await page.click('text=Add card')
    await page.waitForSelector('text=mastercard ending in 4444')
    await page.click('text=Return')
    await page.waitForURL(/\/app\/billing$/)
  })

  it('follows a site from its snippet to its first beacon, and shows its vitals', async () => {
    const { page, errors } = await open('/app/sites')
    await signIn(page)
    await page.fill('[name="name"]', SHOP)
    await page.click('button:has-text("Add")')
    await page.waitForSelector('text=/rum\\.js/')
    await page.waitForSelector('.badge:text("Waiting")')
    const body = JSON.stringify({ path: '/basket', metrics: { lcp: 900, cls: 0.01 } })
    const headers = { origin: SHOP, 'user-agent': 'Mozilla/5.0' }
    const sent = await fetch(`${server.url}/v1/telemetry/rum`, { method: 'POST', headers, body })
    assert.equal(sent.status, 204)
    await page.waitForSelector('.badge:text("Receiving")')
    await page.click('nav.groups >> text=Web vitals')
    await page.waitForSelector('text=900 ms')
    await page.waitForSelector('th:has-text("/basket")')
    assert.deepEqual(errors, [])
  })

  it('looks up one address, and a list of addresses', async () => {
    const { page, errors } = await open('/app/look-up')
    await signIn(page)
    await page.fill('#ip', '81.2.69.160')
    await page.click('main button')
    await page.waitForSelector('.place:has-text("United Kingdom")')
    await page.click('nav.groups >> text=Batch look-up')
    await page.fill('textarea', '81.2.69.160\nnope')
    await page.click('button:has-text("Look up")')
    const clicked = page.click('text=Download CSV')
    const [file] = await Promise.all([page.waitForEvent('download'), clicked])
    assert.match(await readFile(await file.path(), 'utf8'), /^81\.2\.69\.160,81\.2\.69\.160,GB,/m)
    assert.deepEqual(errors, [])
  })

  it('finds an action in the audit log, and changes the name of the user', async () => {
    const { page, errors } = await open('/app/audit')
    await signIn(page)
    await page.fill('[name="search"]', 'My first key')
    await page.click('text=Filter')
    await page.waitForURL(/search=My/)
    assert.equal(await page.locator('main li:has-text("Key created")').count(), 1)
    assert.equal(await page.locator('main li:has-text("Site added")').count(), 0)
    await page.click('nav.groups >> text=Settings')
    await page.fill('#name', 'Grace Example')
    await page.click('text=Save name')
    await page.waitForSelector('text=Name changed')
    assert.deepEqual(errors, [])
  })

  it('closes the menu of a key by Escape, which returns the focus, and by a click elsewhere', async () => {
    const { page } = await open('/app/keys')
    await signIn(page)
    const button = page.locator('summary[aria-label="Actions for My first key"]')
    await button.focus()
    await page.keyboard.press('Enter')
    assert.equal(await page.isVisible('text=Revoke…'), true)
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate('document.activeElement.textContent'), 'Usage')
    await page.keyboard.press('Escape')
    assert.equal(await page.isVisible('text=Revoke…'), false)
    const focused = await page.evaluate('document.activeElement.getAttribute("aria-label")')
    assert.equal(focused, 'Actions for My first key')
    await button.click()
    await page.click('h1')
    assert.equal(await page.isVisible('text=Revoke…'), false)
  })

  it('takes a question back by Escape, and returns the focus', async () => {
    const { page } = await open('/app/account')
    await signIn(page)
    await page.click('summary:has-text("Delete this account…")')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Escape')
    assert.equal(await page.isVisible('.confirm form'), false)
    assert.match(String(await page.evaluate('document.activeElement.textContent')), /^Delete this/)
  })

  it('shows only the fields of the chosen type and permissions', async () => {
    const { page } = await open('/app/keys/new')
    await signIn(page)
    const shown = async () => [
      await page.isVisible('#origins'),
      await page.isVisible('[name="scope"]'),
      await page.isVisible('[name="access"]'),
    ]
    assert.deepEqual(await shown(), [false, false, true])
    await page.check('[value="custom"]')
    assert.deepEqual(await shown(), [false, true, true])
    await page.check('[value="publishable"]')
    assert.deepEqual(await shown(), [true, false, false])
  })

  it('gives buttons, fields and open menus the room of a finger on phones', async () => {
    const { page } = await open('/app/keys', { viewport: { width: 390, height: 800 } })
    await signIn(page)
    await page.click('details.menu summary')
    await assertAccessible(page, 'an open menu')
    // WCAG 2.2, 2.5.5: 44 by 44 CSS pixels.
    const targets = '.menu a, button, .button, summary, select, input:not([type="radio"])'
    for (const path of ['', '/app/keys/new', '/app/sites', '/app/billing', '/app/account']) {
      if (path !== '') await page.goto(`${server.url}${path}`)
      for (const target of await page.locator(`main :is(${targets}):visible`).all()) {
        const { width = 0, height = 0 } = (await target.boundingBox()) ?? {}
        assert.ok(height >= 44 && width >= 44, `${path} ${await target.textContent()} ${height}`)
      }
    }
  })

  it('revokes a key without JavaScript', async () => {
    const { page } = await open('/app/keys', { javaScriptEnabled: false })
    await signIn(page)
    await page.click('summary[aria-label="Actions for My first key"]')
    await page.click('text=Revoke…')
    await page.click('text=Revoke permanently')
    await page.waitForSelector('text=Key revoked')
  })
})

const GUEST_PAGES = ['/app/sign-in', '/app/sign-up', '/app/forgot', '/app/reset']
const OTHERS = [
  '/app/look-up?ip=81.2.69.160',
  '/app/batch',
  '/app/vitals',
  '/app/billing',
  '/app/account',
]
const PAGES = ['/app', '/app/keys', '/app/keys/new', '/app/sites', '/app/audit', ...OTHERS]

describe('a form that is sent after the session ended', { timeout: TIMEOUT_MS }, () => {
  it('waits for the sign-in in another tab', async () => {
    const { page } = await open('/app/account')
    await signIn(page)
    await page.waitForURL(/\/app\/account$/)
    await page.fill('#name', 'Grace Hopper')
    await page.context().clearCookies()
    await page.click('form[action$="/app/account/name"] button')
    await page.waitForSelector('text=You are not signed in')
    for (const { name, options } of SCREENS) {
      await page.emulateMedia({ colorScheme: options.colorScheme })
      await page.setViewportSize(options.viewport)
      await assertAccessible(page, `a form without a session: ${name}`)
    }
    const opened = page.context().waitForEvent('page')
    await page.click('text=Sign in (opens a new tab)')
    const tab = await opened
    await signIn(tab)
    await tab.waitForURL(/\/app$/)
    await page.click('text=Continue')
    await page.waitForURL(/\/app\/account\b/)
    assert.equal(await page.inputValue('#name'), 'Grace Hopper')
  })
})

describe('the pages of the dashboard', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`are accessible: ${name}`, async () => {
      const { page, errors } = await open('/app/sign-in', options)
      for (const path of GUEST_PAGES) {
        await page.goto(`${server.url}${path}`)
        await assertAccessible(page, path)
      }
      await page.context().addCookies([await sessionCookie()])
      for (const path of PAGES) {
        await page.goto(`${server.url}${path}`)
        await assertAccessible(page, path)
      }
      assert.deepEqual(errors, [])
    })
  }
})

/** A new session per screen, because the limits apply to each session. */
async function sessionCookie() {
  const { page } = await open('/app/sign-in')
  await signIn(page)
  await page.waitForURL(/\/app$/)
  const cookies = await page.context().cookies(`${server.url}/app`)
  return cookies.find(({ name }) => name === 'meridian_dashboard') ?? assert.fail()
}
