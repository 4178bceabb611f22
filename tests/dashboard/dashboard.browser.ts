import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, describe, it } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Running } from '../e2e/process.ts'
import { openStore, type Store } from '../e2e/store.ts'
import { PASSWORD } from '../sign-in.ts'
import { assertAccessible, SCREENS } from './accessible.ts'
import { openBrowser, type TestBrowser, type Visitor } from './browser.ts'

/* A user of the real process beside a Stripe double, from sign-up to the end of the subscription. */

const TIMEOUT_MS = 300_000
const CARD = '4242 4242 4242 4242'
const EMAIL = 'grace@example.com'
const SHOP = 'https://shop.example'

let store: Store
let server: Running
let browser: TestBrowser
before(async () => {
  browser = await openBrowser()
  store = await openStore({ starter: 9, pro: 29 })
  server = await store.start({ MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' })
  store.double.addWebhook(`${server.url}/v1/billing/webhook`, [store.signingSecret])
})
after(async () => {
  await browser.close()
  await store[Symbol.asyncDispose]()
})

/** Each comes from another address, since attempts to sign in from one are limited. */
async function open(path: string, options: BrowserContextOptions = {}): Promise<Visitor> {
  visitors += 1
  const extraHTTPHeaders = { 'x-forwarded-for': `198.18.0.${visitors}` }
  const visitor = await browser.visitor({ ...options, extraHTTPHeaders })
  await visitor.page.goto(`${server.url}${path}`)
  return visitor
}

let visitors = 0

async function signIn(page: Page): Promise<void> {
  await page.fill('#email', EMAIL)
  await page.fill('#password', PASSWORD)
  await page.click('main button')
}

describe('the dashboard', { timeout: TIMEOUT_MS }, () => {
  it('takes a newcomer from sign-up to a key that works', async () => {
    const { page, troubles } = await open('/app')
    await page.click('text=Create an account')
    await page.fill('#name', 'Grace')
    await signIn(page)
    await page.click('text=Create a key')
    await page.fill('#name', 'Production server')
    await page.click('text=Create key')
    const key = (await page.textContent('#raw-key'))?.trim() ?? ''
    const headers = { 'x-api-key': key }
    const located = await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })
    assert.equal(located.status, 200)
    assert.deepEqual(troubles, [])
    await page.context().close()
  })

  it('shows on each page who is signed in, and nobody after the sign-out', async () => {
    const { page } = await open('/app/keys')
    await signIn(page)
    await page.waitForURL(/\/app\/keys$/)
    assert.equal(await page.textContent('.who .user'), EMAIL)
    await page.click('text=Sign out')
    await page.waitForURL(/\/app\/sign-in$/)
    await page.goto(`${server.url}/app/keys`)
    assert.match(page.url(), /\/app\/sign-in\?next=/)
    await page.context().close()
  })

  it('sells a plan, changes it for the amount shown, and cancels it', async () => {
    const { page } = await open('/app/billing')
    await signIn(page)
    await page.click('text=Subscribe to Starter')
    await page.waitForURL(/\/c\/pay\//)
    await page.fill('[name="card"]', CARD)
    await page.click('button')
    await page.waitForURL(/\/app\/billing\?checkout=done$/)
    await store.double.settled()
    await page.goto(`${server.url}/app/billing`)
    await page.click('text=Change to Pro')
    await page.click('text=/^Change and pay \\$/')
    await page.waitForSelector('text=The plan is changed')
    await page.click('summary:has-text("Cancel…")')
    await page.click('text=Cancel at the end of the period')
    await page.waitForSelector('text=in effect until the period ends')
    await page.click('text=Invoices and payment')
    await page.waitForSelector('text=ending in 4242')
    await page.context().close()
  })

  it('watches a site from its snippet to its first beacon, and shows its vitals', async () => {
    const { page, troubles } = await open('/app/sites')
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
    await page.click('.rail >> text=Web vitals')
    await page.waitForSelector('text=900 ms')
    await page.waitForSelector('th:has-text("/basket")')
    assert.deepEqual(troubles, [])
    await page.context().close()
  })

  it('looks up an address, and a list of them', async () => {
    const { page, troubles } = await open('/app/look-up')
    await signIn(page)
    await page.fill('#ip', '81.2.69.160')
    await page.click('main button')
    await page.waitForSelector('.place:has-text("United Kingdom")')
    await page.click('.rail >> text=Batch')
    await page.fill('textarea', '81.2.69.160\nnope')
    await page.click('button:has-text("Look up")')
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.click('text=Download CSV'),
    ])
    assert.match(await readFile(await file.path(), 'utf8'), /^1,81\.2\.69\.160,GB,/m)
    assert.deepEqual(troubles, [])
    await page.context().close()
  })

  it('finds in the audit log what was done, and changes the name of the user', async () => {
    const { page, troubles } = await open('/app/audit')
    await signIn(page)
    await page.fill('[name="search"]', 'Production')
    await page.click('text=Filter')
    await page.waitForSelector('main li:has-text("Key created")')
    assert.equal(await page.locator('main li:has-text("Site added")').count(), 0)
    await page.click('.rail >> text=Account')
    await page.fill('#name', 'Grace Example')
    await page.click('text=Save the name')
    await page.waitForSelector('text=The name is changed')
    assert.deepEqual(troubles, [])
    await page.context().close()
  })

  it('revokes a key, without a script as well', async () => {
    const { page } = await open('/app/keys', { javaScriptEnabled: false })
    await signIn(page)
    await page.click('summary:has-text("Revoke…")')
    await page.click('text=Revoke for good')
    await page.waitForSelector('text=The key is revoked')
    await page.context().close()
  })
})

const GUEST_PAGES = ['/app/sign-in', '/app/sign-up', '/app/forgot', '/app/reset']
const PAGES = [
  '/app',
  '/app/keys',
  '/app/sites',
  '/app/vitals',
  '/app/look-up?ip=81.2.69.160',
  '/app/batch',
  '/app/billing',
  '/app/billing/invoices',
  '/app/audit',
  '/app/account',
]

describe('the pages of the dashboard', { timeout: TIMEOUT_MS }, () => {
  for (const { name, options } of SCREENS) {
    it(`are accessible: ${name}`, async () => {
      const { page, troubles } = await open('/app/sign-in', options)
      for (const path of GUEST_PAGES) {
        await page.goto(`${server.url}${path}`)
        await assertAccessible(page, path)
      }
      await page.context().addCookies([await sessionCookie()])
      for (const path of PAGES) {
        await page.goto(`${server.url}${path}`)
        await assertAccessible(page, path)
      }
      assert.deepEqual(troubles, [])
      await page.context().close()
    })
  }
})

/** A session of its own for each: it is limited as any caller is. */
async function sessionCookie() {
  const { page } = await open('/app/sign-in')
  await signIn(page)
  await page.waitForURL(/\/app$/)
  const [cookie] = await page.context().cookies(`${server.url}/app`)
  await page.context().close()
  assert.ok(cookie)
  return cookie
}
