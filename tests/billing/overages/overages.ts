import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type Stripe from 'stripe'
import { findUserByEmail } from '../../../lib/accounts/users.ts'
import type { Billing } from '../../../lib/billing/billing.ts'
import { OVERAGE_EVENT } from '../../../lib/billing/overages/send-report.ts'
import { insertCustomer } from '../../../lib/billing/subscription/customers.ts'
import { sync as syncUser } from '../../../lib/billing/subscription/sync.ts'
import { newSecretKey } from '../../../stripe-double/ids.ts'
import { addPayer, startDouble } from '../../stripe-double/start.ts'
import { readValue } from '../../support/database/sql.ts'
import { makeApp, NOON, recordingLog, type TestApp } from '../../support/helpers.ts'
import { processFolder } from '../../support/temp-folder.ts'
import { assertUnits } from './assert-units.ts'

/** The monthly cap of every plan. */
export const CAP = 5

const folder = processFolder()

/** Writes plans with small caps and high rates. Returns the file. */
export function overagePlans(): string {
  const rest = { maxKeys: 10, maxSites: 10, requestsPerMinute: 1_000_000 }
  const file = join(folder, 'plans.json')
  const plans = [
    { id: 'free', name: 'Free', price: 0, monthlyCap: CAP, ...rest },
    { id: 'starter', name: 'Starter', price: 9, monthlyCap: CAP, ...rest },
    { id: 'pro', name: 'Pro', price: 29, monthlyCap: CAP, ...rest },
  ]
  writeFileSync(file, JSON.stringify(plans))
  return file
}

type Double = Awaited<ReturnType<typeof startDouble>>

/** Settings that sell the plans of the double. */
export function sellingEnv({ double, starter, pro, overage }: Double) {
  return {
    STRIPE_SECRET_KEY: newSecretKey(),
    STRIPE_API_BASE: double.url,
    STRIPE_PRICE_STARTER: starter,
    STRIPE_PRICE_PRO: pro,
    STRIPE_PRICE_OVERAGE: overage,
    MERIDIAN_PLANS: overagePlans(),
  }
}

/** The service with small caps and a Stripe double, but no webhook. Both clocks say `clock.now`. */
export async function openOverageShop(without: readonly string[] = []) {
  const clock = { now: NOON }
  const stripe = await startDouble({ realNow: () => clock.now })
  const log = recordingLog()
  const settings = Object.entries(sellingEnv(stripe)).filter(([name]) => !without.includes(name))
  const now = () => clock.now
  const app = await makeApp({ now, log, env: Object.fromEntries(settings) })
  // As the server does when it starts.
  if (app.services.billing.isConfigured) await app.services.overages.refreshPrice()
  return {
    ...stripe,
    app,
    log,
    clock,
    /** Advances the clocks of the service and the double. */
    pass: (ms: number) => {
      clock.now += ms
      stripe.double.advance(0)
    },
    async [Symbol.asyncDispose]() {
      try {
        await assertUnits(app, stripe.double)
      } finally {
        await app.close()
        await stripe[Symbol.asyncDispose]()
      }
    },
  }
}

export type OverageShop = Awaited<ReturnType<typeof openOverageShop>>

/** Adds a user with a key who pays for a plan by card. */
export async function subscribe(
  { app, stripe, pro }: Pick<OverageShop, 'app' | 'stripe' | 'pro'>,
  { email = 'ada@example.com', price = pro } = {},
) {
  const { billing, db } = app.services
  const key = await app.makeKey({ email, plan: 'free' })
  const user = await findUserByEmail(db, email)
  assert.ok(user)
  return {
    key,
    userId: user.id,
    ...(await startPaying(stripe, billing, { userId: user.id, price })),
  }
}

/** Subscribes the user without a checkout. */
export async function startPaying(
  stripe: Stripe,
  billing: Billing,
  { userId, price }: { readonly userId: string; readonly price: string },
) {
  const customer = await addPayer(stripe)
  const metadata = { meridian_user: userId }
  const { id } = await stripe.subscriptions.create({ customer, metadata, items: [{ price }] })
  await insertCustomer(billing.db, { userId, customerId: customer, createdAt: 0 }).run()
  await syncUser(billing, billing.openStripe(), userId)
  return { customer, subscription: id }
}

/** Sends `count` requests that are counted. */
export async function ask(app: TestApp, key: string, count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const { status } = await app.send('GET', '/v1/ip/81.2.69.160', { key })
    assert.equal(status, 200)
  }
}

export async function setOverages(app: TestApp, key: string, overagesEnabled: boolean) {
  const body = { overagesEnabled }
  return app.send('PATCH', '/v1/billing/subscription', { key, body })
}

/** The customer's events, in the order in which the double received them. */
export function meterEvents({ double }: Pick<Double, 'double'>, customer: string) {
  return [...double.world.state.meterEvents.values()].filter(
    (event) => event.customer === customer && event.eventName === OVERAGE_EVENT,
  )
}

export function meteredUnits(at: Pick<Double, 'double'>, customer: string): number {
  return meterEvents(at, customer).reduce((units, { value }) => units + value, 0)
}

/** A shop whose only user pays for overages and has used up the cap. */
export async function openShopOverCap() {
  const at = await openOverageShop()
  const payer = await subscribe(at)
  await setOverages(at.app, payer.key, true)
  await ask(at.app, payer.key, CAP)
  const { overages } = at.app.services
  const askMore = (count: number) => ask(at.app, payer.key, count)
  return { ...at, ...payer, overages, ask: askMore }
}

/** The units of each meter event. */
export function unitsOf(at: OverageShop & { readonly customer: string }): number[] {
  return meterEvents(at, at.customer).map(({ value }) => value)
}

/** The end of the period, in epoch milliseconds. */
export async function endOf(at: OverageShop): Promise<number> {
  return Number(await readOne(at, 'SELECT period_end FROM subscriptions'))
}

export function readOne({ app }: OverageShop, sql: string): Promise<unknown> {
  return readValue(app, sql)
}

/** Syncs the subscription, as an event would. */
export function sync({ app }: OverageShop, userId: string) {
  const { billing } = app.services
  return syncUser(billing, billing.openStripe(), userId)
}
