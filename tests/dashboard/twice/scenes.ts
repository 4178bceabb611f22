import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import * as v from 'valibot'
import { insertSiteLink, mintSiteLink } from '../../../lib/access/site-links.ts'
import { insertCapNotice } from '../../../lib/contact/cap-notices.ts'
import { accept } from '../../contact/inquiry.ts'
import { stopLinkOf } from '../../contact/one-click.ts'
import { codeAt } from '../../support/authenticator.ts'
import { readValue, write } from '../../support/database/sql.ts'
import { NOON } from '../../support/helpers.ts'
import { nextLink, PASSWORD, signIn } from '../../support/sign-in.ts'
import type { Stage } from './stage.ts'

/** A page with a form, and what is typed into the form. */
export interface Scene {
  readonly page: string
  /** The session of the visitor. */
  readonly token?: string
  /** Values by field; `true` ticks a box. */
  readonly fields?: Readonly<Record<string, string | true>>
  /** What the visitor does on the page to get to the form. */
  readonly before?: (page: Page) => Promise<void>
  /** Whether the page's script keeps the browser from sending the form twice. */
  readonly isScripted?: true
}

export interface FormCase {
  /** The route that the form is sent to. */
  readonly route: string
  readonly name?: string
  /** Default: mails are sent. */
  readonly sendsMail?: false
  readonly open: (stage: Stage) => Promise<Scene>
}

export const EMAIL = 'grace@example.com'
export const NEW_PASSWORD = `${PASSWORD} 2`
const FACTOR = '/v1/account/me/second-factor'
export const SITE = 'https://shop.example'

export const asUser =
  (page: string, fields?: Scene['fields']): FormCase['open'] =>
  async ({ token }) => ({ page, token, ...(fields && { fields }) })

export const asGuest =
  (page: string, fields: Scene['fields'] = {}): FormCase['open'] =>
  async () => ({ page, fields })

const Secret = v.object({ secret: v.string() })
const WithId = v.object({ id: v.string() })
const Codes = v.object({ recoveryCodes: v.array(v.string()) })

export async function post(stage: Stage, path: string, body: unknown) {
  const answer = await stage.send('POST', path, body)
  assert.ok(answer.status < 300, answer.text)
  return answer.body
}

/** Turns Grace's second factor on. Each code is good only once. */
export async function turnOnFactor(stage: Stage) {
  const { secret } = v.parse(Secret, await post(stage, FACTOR, { password: PASSWORD }))
  const confirmed = await post(stage, `${FACTOR}/confirm`, {
    code: await codeAt(secret, stage.shop.now()),
  })
  stage.shop.pass(60)
  const [recoveryCode = ''] = v.parse(Codes, confirmed).recoveryCodes
  return { code: await codeAt(secret, stage.shop.now()), recoveryCode }
}

export async function subscribe(stage: Stage, planId: string): Promise<void> {
  const { double, app } = stage.shop
  await app.services.overages.refreshPrice()
  await post(stage, '/v1/billing/subscription', { planId })
  const [session] = [...double.world.state.tables.sessions.values()].slice(-1)
  double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
  await stage.shop.settled()
}

/** As a subscriber of the plan. */
export const asBuyer =
  (planId: string, page: string, fields: Scene['fields'] = {}): FormCase['open'] =>
  async (stage) => {
    await subscribe(stage, planId)
    return { page, token: stage.token, fields }
  }

/** On a page about Grace's key. */
export const withKey =
  (page: string): FormCase['open'] =>
  async (stage) => {
    const { id } = v.parse(WithId, await post(stage, '/v1/account/me/keys', { name: 'Shop' }))
    return { page: page.replace(':id', id), token: stage.token }
  }

export const withSite =
  (page: string): FormCase['open'] =>
  async (stage) => {
    const { id } = v.parse(WithId, await post(stage, '/v1/account/me/sites', { name: SITE }))
    return { page: page.replace(':id', id), token: stage.token }
  }

/** On the page of her site's vitals. */
export const withVitals =
  (prepare = async (_: Stage) => {}): FormCase['open'] =>
  async (stage) => {
    await post(stage, '/v1/account/me/sites', { name: SITE })
    await prepare(stage)
    return { page: `/app/vitals?site=${encodeURIComponent(SITE)}`, token: stage.token }
  }

/** Makes a link to the vitals of her site. */
export async function addLink({ shop: { app } }: Stage): Promise<void> {
  const userId = String(await readValue(app, 'SELECT user_id FROM sites'))
  const siteId = String(await readValue(app, 'SELECT id FROM sites'))
  const { link } = mintSiteLink({ userId, siteId, days: 7, now: app.services.now() })
  await insertSiteLink(app.services.db, link).run()
}

export const RECEIVER = 'ida@shop.example'
const invite = (stage: Stage) => post(stage, '/v1/account/me/usage/receivers', { email: RECEIVER })

export const withReceiver: FormCase['open'] = async (stage) => {
  await invite(stage)
  return { page: '/app/usage/mails', token: stage.token }
}

export const asReceiver: FormCase['open'] = async (stage) => {
  await invite(stage)
  const { pathname, search } = await nextLink(stage.mail)
  return { page: `${pathname}${search}` }
}

export const asConfirmedReceiver: FormCase['open'] = async (stage) => {
  await invite(stage)
  const { app } = stage.shop
  await write(app, 'UPDATE usage_receivers SET confirmed_at = asked_at')
  const { pathname, search } = new URL(await stopLinkOf(app, RECEIVER))
  return { page: `${pathname}${search}` }
}

export const withOtherSession: FormCase['open'] = async (stage) => {
  await signIn(stage.shop.app, EMAIL)
  return { page: '/app/account', token: stage.token }
}

/** Grace has given the password, and is asked for a code. */
export const withCode =
  (field: 'code' | 'recoveryCode'): FormCase['open'] =>
  async (stage) => {
    const codes = await turnOnFactor(stage)
    return {
      page: '/app/sign-in',
      before: async (page) => {
        await page.fill('#email', EMAIL)
        await page.fill('#password', PASSWORD)
        await page.click('main button')
        await page.waitForSelector('#code')
      },
      fields: { [field]: codes[field] },
    }
  }

/** On a page about Grace. */
export const asOperator =
  (
    page: string,
    prepare = async (_: Stage) => {},
    fields: Scene['fields'] = {},
  ): FormCase['open'] =>
  async (stage) => {
    const token = await stage.operator()
    await prepare(stage)
    const sql = 'SELECT id FROM users WHERE email = ?'
    const id = String(await readValue(stage.shop.app, sql, EMAIL))
    return { page: page.replace(':id', id), token, fields }
  }

export const failedInquiry = async ({ shop: { app } }: Stage) => {
  await accept(app)
  await write(app, "UPDATE inquiries SET state = 'dead'")
}

export const failedNotice = async ({ shop: { app, userId } }: Stage) => {
  const share = { percent: 100, isReported: true, isMailed: true }
  const notice = { userId, threshold: 'reach_cap', cap: 5_000, ...share } as const
  await insertCapNotice(app.services.db, notice, { channel: 'mail', now: NOON }).run()
  await write(app, "UPDATE cap_notices SET state = 'dead'")
}

export const differsFromStripe = async (stage: Stage) => {
  const { shop } = stage
  const { id } = await shop.buy('pro')
  shop.double.switchDeliveries('drop', 100)
  await shop.stripe.subscriptions.cancel(id)
  const { comparison } = shop.app.services.operatorJobs
  comparison.start('compare')
  await comparison.settled()
}

/** A session that ends while a form of its page is filled in. */
export const keptForm: FormCase['open'] = async ({ token }) => ({
  page: '/app/keys/new',
  token,
  before: async (page) => {
    const cookies = await page.context().cookies()
    await page.context().clearCookies()
    await page.fill('form[action="/app/keys"] [name="name"]', 'Shop')
    await page.click('form[action="/app/keys"] button')
    await page.waitForSelector('text=You are not signed in')
    await page.context().addCookies(cookies)
  },
})
