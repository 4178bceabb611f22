import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { insertInquiry, newInquiry } from '../../lib/contact/inquiry-store.ts'
import { openDb } from '../../lib/db/open.ts'
import { ask, openServerShop, type ServerShop, SUBSCRIPTION } from '../billing/server-shop.ts'
import { INQUIRY } from '../contact/inquiry.ts'
import { assertAccessible, SCREENS } from '../pages/accessible.ts'
import { visitors } from '../pages/browser.ts'
import type { Running } from '../support/process.ts'
import { PASSWORD } from '../support/sign-in.ts'
import { OPERATOR } from './operator.ts'

/* The operator of the real process, with the Stripe double: what the pages start runs in real processes. */

const TIMEOUT_MS = 900_000
/** The doctor and backups run at low priority: on a busy machine they wait. */
const SLOW = { timeout: 300_000 }
const PAGES = ['databases', 'system', 'billing', 'inquiries', 'inquiries?state=dead', 'notices']

const openVisitor = visitors()
let shop: ServerShop
let server: Running
let session: Awaited<ReturnType<typeof signUp>>
before(async () => {
  shop = await openServerShop({ starter: 9, pro: 29 })
  const backups = join(shop.dataDir, 'backups')
  server = await shop.start({ MERIDIAN_BACKUP_DIR: backups, MERIDIAN_CONTACT: 'store' })
  await sellUnnoticed()
  session = await signUp()
  await addRows()
})
after(() => shop[Symbol.asyncDispose]())

/** Sells a plan whose events never arrive: the database is outdated. */
async function sellUnnoticed(): Promise<void> {
  const key = await shop.addUser('ada@example.com')
  const body = { planId: 'pro' }
  await ask(server, key, { method: 'POST', path: SUBSCRIPTION, body })
  const [checkout] = [...shop.double.world.state.tables.sessions.values()]
  shop.double.payCheckout(checkout?.id ?? '', { card: 'pm_card_visa' })
}

async function signUp() {
  const { page } = await openVisitor()
  await page.goto(`${server.url}/app/sign-up`)
  await page.fill('#name', 'Olga')
  await page.fill('#email', OPERATOR)
  await page.fill('#password', PASSWORD)
  await page.click('main button')
  await page.waitForURL(/\/app$/)
  const cookies = await page.context().cookies(`${server.url}/app`)
  return cookies
}

async function addRows(): Promise<void> {
  const db = openDb(join(shop.dataDir, 'app.db'))
  db.$client.prepare("UPDATE users SET role = 'operator' WHERE email = ?").run(OPERATOR)
  for (const name of ['Zoë Quarryman', 'Yves Removed']) {
    const inquiry = { ...INQUIRY, name, userId: null, now: Date.now() }
    await insertInquiry(db, newInquiry({ ...inquiry, state: 'kept' })).run()
  }
  db.$client.exec(
    "UPDATE inquiries SET state = 'dead', last_error = 'the answer is 500' WHERE name LIKE 'Z%'",
  )
  db.$client.exec(`INSERT INTO cap_notices (id, channel, user_id, email, threshold, requests,
    percent, state, created_at, queued_at, due_at, attempts, last_error)
    SELECT 'notice-1', 'mail', id, email, 'reach_cap', 5000, 100, 'dead', ${Date.now()}, 0, 0, 3,
      'the mail server did not accept the message'
    FROM users WHERE email = 'ada@example.com'`)
  db.$client.close()
}

async function open(path: string, options: BrowserContextOptions = {}) {
  const visitor = await openVisitor(options)
  await visitor.page.context().addCookies(session)
  await visitor.page.goto(`${server.url}/app/operate/${path}`)
  return visitor
}

/** Loads the page again, as without script, until it shows the text. */
async function reloadUntil(page: Page, text: string): Promise<void> {
  const late = AbortSignal.timeout(SLOW.timeout)
  while (!(await page.locator(`text=${text}`).isVisible())) {
    assert.equal(late.aborted, false, text)
    await page.reload()
  }
}

/** The names of facts that break although their column has room for them. */
const BROKEN_NAMES = `[...document.querySelectorAll('.facts dt')]
  .filter((name) => {
    const text = document.createRange()
    text.selectNodeContents(name)
    const whole = [...text.getClientRects()].reduce((sum, { width }) => sum + width, 0)
    return text.getClientRects().length > 1 && whole < name.parentElement.clientWidth
  })
  .map((name) => name.textContent)`

describe('the pages of operators about the service', { timeout: TIMEOUT_MS }, () => {
  it('run the doctor and a backup, and follow them', async () => {
    const { page, errors } = await open('system')
    await page.click('text=Run the doctor')
    await page.waitForSelector('.findings :text("Settings")', SLOW)
    await page.click('text=Back up now')
    await page.waitForSelector('#backup :text("The last backup ended")', SLOW)
    await page.waitForSelector('#backup :text("meridian-")')
    assert.equal(await page.locator('[data-refresh]').count(), 0)
    assert.deepEqual(errors, [])
  })

  it('keep the name of a fact in one line, and a size with its unit', async () => {
    const { page } = await open('system', { viewport: { width: 1280, height: 800 } })
    assert.deepEqual(await page.evaluate(BROKEN_NAMES), [])
    const size = page.locator('dt:text("Memory of the machine") + dd')
    assert.match(
      (await size.textContent()) ?? '',
      /^[\d.]+\u00a0[MG]B available of [\d.]+\u00a0[MG]B$/,
    )
  })

  it('compare with Stripe without JavaScript', async () => {
    const { page } = await open('billing', { javaScriptEnabled: false })
    await page.click('text=Compare now')
    await reloadUntil(page, 'outdated')
  })

  for (const { name, options } of SCREENS) {
    it(`are accessible: ${name}`, async () => {
      const { page, errors } = await open('system', options)
      for (const path of PAGES) {
        await page.goto(`${server.url}/app/operate/${path}`)
        for (const details of await page.locator('main details > summary').all()) {
          await details.click()
        }
        await assertAccessible(page, path)
      }
      assert.deepEqual(errors, [])
    })
  }

  it('repair what the comparison has found without JavaScript', async () => {
    const { page } = await open('billing', { javaScriptEnabled: false })
    await page.click('summary:has-text("Repair…")')
    await page.click('button:text-is("Repair")')
    await reloadUntil(page, '1 mismatch repaired')
    await page.waitForSelector('text=The database agrees with Stripe')
  })

  it('remove an inquiry by keyboard', async () => {
    const { page, errors } = await open('inquiries?state=kept')
    await page.focus('summary[aria-label="Remove Yves Removed…"]')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.waitForSelector('text=Removed.')
    assert.equal(await page.locator('text=Yves Removed').count(), 0)
    assert.deepEqual(errors, [])
  })
})
