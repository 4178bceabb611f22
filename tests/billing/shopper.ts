import assert from 'node:assert/strict'
import { getRequestListener } from '@hono/node-server'
import type { Page } from 'playwright-core'
import { openBrowser } from '../pages/browser.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { PASSWORD } from '../support/sign-in.ts'
import { openShop, type Shop, type ShopOptions } from './shop.ts'

/** A busy machine may need long for a page. */
const PATIENCE_MS = 120_000
/** Every visitor has this address. */
const VISITOR = '81.2.69.160'

/** A customer at a browser, and the shop, whose pages and API the browser reaches on a real port. */
export interface Shopper extends AsyncDisposable {
  readonly shop: Shop
  readonly page: Page
  /** Errors in the console and exceptions of the pages. */
  readonly errors: readonly string[]
  /** Lets time pass up to this moment, and waits for all events. */
  waitUntil(time: string): Promise<void>
  open(path: string): Promise<void>
  press(button: string): Promise<void>
  /** Signs up, and creates a key, with which this customer asks the API. */
  signUp(email: string): Promise<void>
  /** Makes so many look-ups. Returns how many a minute the plan in effect allows. */
  lookUp(times?: number): Promise<number>
  /** Sends JSON to the API. Returns the body of its answer. */
  post(path: string, body?: object): Promise<unknown>
}

/** Opens a shop and a browser that nobody has signed in to. */
export async function openShopper(options: ShopOptions): Promise<Shopper> {
  const opened = new AsyncDisposableStack()
  const loopback = opened.use(
    await startLoopbackServer((request, response) => listener(request, response)),
  )
  const { origin } = loopback
  const env = { ...options.env, MERIDIAN_BASE_URL: origin }
  const shop = opened.use(await openShop({ ...options, env }))
  const listener = getRequestListener((request) =>
    shop.app.app.fetch(request, { remoteAddress: VISITOR }),
  )
  const browser = await openBrowser()
  opened.defer(() => browser.close())
  const { page, errors } = await browser.visitor()
  page.setDefaultTimeout(PATIENCE_MS)
  let key = ''
  const send = async (path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${origin}${path}`, { ...init, headers: { 'x-api-key': key } })
    const text = await answer.text()
    assert.equal(answer.status, 200, text)
    return { headers: answer.headers, body: JSON.parse(text) }
  }
  const open = async (path: string) => {
    await page.goto(`${origin}${path}`)
  }
  return {
    shop,
    page,
    errors,
    waitUntil: async (time) => {
      shop.pass((Date.parse(time) - shop.now()) / 1000)
      await shop.settled()
    },
    open,
    press: (button) => page.getByRole('button', { name: button, exact: true }).click(),
    signUp: async (email) => {
      await open('/app/sign-up')
      await page.fill('#name', 'Grace')
      await page.fill('#email', email)
      await page.fill('#password', PASSWORD)
      await page.click('main button')
      await page.click('text=Create a key')
      await page.click('text=Create key')
      await page.fill('#name', 'Production server')
      await page.check('[value="full"]')
      await page.click('main form button')
      await page.waitForSelector('text=Production server is ready')
      key = (await page.textContent('#raw-key'))?.trim() ?? ''
    },
    lookUp: async (times = 1) => {
      const policies = new Set<string>()
      for (let made = 0; made < times; made += 1) {
        const { headers } = await send(`/v1/ip/${VISITOR}`)
        policies.add(headers.get('ratelimit-policy') ?? '')
      }
      const [policy = '', ...others] = policies
      assert.deepEqual(others, [])
      return Number(/;q=(\d+);w=60$/.exec(policy)?.[1])
    },
    post: async (path, body) => {
      const sent = await send(path, { method: 'POST', body: JSON.stringify(body ?? {}) })
      return sent.body
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** What the open billing page says about the plan, such as `Pro`, `Status: Active`. */
export async function shownPlan({ page }: Shopper): Promise<string[]> {
  await page.waitForLoadState()
  const card = page.locator('section[aria-labelledby="current"]')
  const plan = await card.locator('.figure').allInnerTexts()
  const status = await card.locator('h2 .badge').allInnerTexts()
  const facts = await card.locator('.facts > div').allInnerTexts()
  const rest = await card.locator('> .soft').allInnerTexts()
  const statuses = status.map((text) => `Status: ${text}`)
  return [...plan, ...statuses, ...facts.map((fact) => fact.replace(/\s*\n\s*/, ': ')), ...rest]
}

/** The lines of the plan change that the open page offers, and last what is charged now. */
export async function shownCost({ page }: Shopper): Promise<string[]> {
  await page.waitForSelector('#change')
  await page.waitForLoadState()
  const rows = await page.locator('main tbody tr').allInnerTexts()
  return rows.map((row) => row.replace('\t', ': '))
}

/** The invoices in the portal, oldest first, such as `1: 2026-01-15 paid, $9.00 due, $9.00 paid`. */
export async function shownInvoices({ open, page, press }: Shopper): Promise<string[]> {
  await open('/app/billing')
  await press('Open the customer portal')
  await page.waitForURL(/\/p\/session\//)
  const rows = await page.locator('#invoices li').allInnerTexts()
  return rows.reverse().map((row) => row.replace(/^.*-0*(\d+):/, '$1:'))
}

/** Everything on the page, for the report of a failure. */
export async function shownText({ page }: Shopper): Promise<string> {
  return `${page.url()} says: ${await page.locator('body').allInnerTexts().catch(String)}`
}
