import assert from 'node:assert/strict'
import { text } from 'node:stream/consumers'
import type Stripe from 'stripe'
import {
  findSubscription,
  type SubscriptionRow,
} from '../../lib/billing/subscription/subscriptions.ts'
import { readPlans } from '../../lib/config/plans.ts'
import { toCapShares } from '../../lib/contract/account/cap-shares.ts'
import type { StripeDouble } from '../../stripe-double/double.ts'
import { newSecretKey, newSigningSecret } from '../../stripe-double/ids.ts'
import { seedPlans } from '../../stripe-double/plans.ts'
import { addPrice, addProduct } from '../../stripe-double/resources/catalog/prices.ts'
import { startStripeDouble } from '../../stripe-double/start-double.ts'
import { recordCalls, sdkFor } from '../stripe-double/start.ts'
import type { Answer } from '../support/contract-check.ts'
import { readRows, readValue } from '../support/database/sql.ts'
import {
  type AppOptions,
  makeApp,
  NOON,
  type TestApp,
  withoutAccountLimit,
} from '../support/helpers.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { assertUnits } from './overages/assert-units.ts'

export const WEBHOOK = '/v1/billing/webhook'
export const SUBSCRIPTION = '/v1/billing/subscription'
export const DAY = 86_400

type ForApp = 'log' | 'env' | 'retryPolicy' | 'database' | 'replace' | 'runScript'

export interface ShopOptions extends Pick<AppOptions, ForApp> {
  /** Whether Pro is also sold by the year, for 290 dollars or 270 euros. */
  readonly sellsYearly?: boolean
  /** When the clocks start, in epoch milliseconds; default: `NOON`. */
  readonly start?: number
}

/** What a purchase may say besides the plan. */
export interface Wanted {
  readonly interval?: 'month' | 'year'
  readonly currency?: string
}

/** The service with one user, and a Stripe double whose events reach it over HTTP. */
export interface Shop extends AsyncDisposable {
  readonly app: TestApp
  readonly double: StripeDouble
  readonly stripe: Stripe
  /** The prices of the plans. */
  readonly prices: { readonly starter: string; readonly pro: string; readonly overage: string }
  /** The signing secrets of the webhook, the newest first. */
  readonly secrets: readonly string[]
  /** The key of the user who buys. */
  readonly key: string
  readonly userId: string
  now(): number
  /** Advances the clocks of the service and of the double, which does everything that is due. */
  pass(seconds: number): void
  /** Sends a request with the key of the user. */
  send(method: string, path: string, body?: unknown): Promise<Answer>
  /** Buys the plan on the payment page, and waits for the events. */
  buy(planId: string, more?: Wanted): Promise<SubscriptionRow>
  /** Resolves when each event has been delivered or abandoned. */
  settled(): Promise<void>
  row(): Promise<SubscriptionRow | null>
  /** The subscription as the double has it. */
  atStripe(id: string): Stripe.Subscription
  /** The calls to Stripe since the previous `newCalls()`, such as `POST /v1/customers`. */
  newCalls(): string[]
}

export async function openShop(given: ShopOptions = {}): Promise<Shop> {
  const { sellsYearly = false, start = NOON, ...options } = given
  let now = start
  let seen = 0
  const double = await startStripeDouble({ realNow: () => now, retryDelaysMs: [0, 0] })
  const { plans, overage } = seedPlans(double.world, readPlans(undefined).list)
  const prices = { starter: plans.get('starter') ?? '', pro: plans.get('pro') ?? '', overage }
  const secrets = [newSigningSecret(), newSigningSecret()]
  const app = await makeApp({
    ...options,
    now: () => now,
    env: {
      ...environment(double, { prices, secrets }),
      ...(sellsYearly && { STRIPE_PRICE_PRO_YEARLY: addYearly(double) }),
      ...options.env,
    },
    replace: (services) => ({ ...withoutAccountLimit(services), ...options.replace?.(services) }),
  })
  const key = await app.makeKey({ plan: 'free' })
  const { db } = app.services
  const userId = String(await readValue(app, 'SELECT id FROM users'))
  const endpoint = await openEndpoint(app)
  double.addWebhook(endpoint.url, secrets.slice(0, 1))
  const shop: Shop = {
    app,
    double,
    stripe: sdkFor(double.port),
    prices,
    secrets,
    key,
    userId,
    now: () => now,
    pass: (seconds) => {
      now += seconds * 1000
      double.advance(0)
    },
    send: (method, path, body) => app.send(method, path, { key, body }),
    buy: async (planId, more = {}) => {
      const { status, text: shown } = await shop.send('POST', SUBSCRIPTION, { planId, ...more })
      assert.equal(status, 200, shown)
      const [session] = [...double.world.state.tables.sessions.values()].slice(-1)
      double.payCheckout(session?.id ?? '', { card: 'pm_card_visa' })
      await shop.settled()
      const row = await shop.row()
      assert.ok(row)
      return row
    },
    settled: () => double.settled(),
    row: () => findSubscription(db, userId),
    atStripe: (id) => {
      const row = double.world.state.tables.subscriptions.get(id)
      assert.ok(row)
      return row
    },
    newCalls: () => {
      const calls = double.calls().slice(seen)
      seen += calls.length
      return calls.map(({ method, path }) => `${method} ${path.replace(/\?.*/, '')}`)
    },
    async [Symbol.asyncDispose]() {
      recordCalls(double.calls())
      try {
        await assertUnits(app, double)
      } finally {
        await double[Symbol.asyncDispose]()
        await endpoint[Symbol.asyncDispose]().finally(app.close)
      }
    },
  }
  return shop
}

function addYearly({ world }: StripeDouble): string {
  return addPrice(world, {
    product: addProduct(world, 'Pro').id,
    currency: 'usd',
    unit_amount: 29_000,
    currency_options: { eur: { unit_amount: 27_000 } },
    recurring: { interval: 'year' },
  }).id
}

interface Sold {
  readonly prices: Shop['prices']
  readonly secrets: readonly string[]
}

export function environment({ url }: StripeDouble, { prices, secrets }: Sold) {
  return {
    STRIPE_SECRET_KEY: newSecretKey(),
    STRIPE_WEBHOOK_SECRET: secrets.join(','),
    STRIPE_API_BASE: url,
    STRIPE_PRICE_STARTER: prices.starter,
    STRIPE_PRICE_PRO: prices.pro,
    STRIPE_PRICE_OVERAGE: prices.overage,
  }
}

/** Passes the double's events to the app, which checks every answer against the contract. */
async function openEndpoint(app: TestApp) {
  const loopback = await startLoopbackServer(async (request, response) => {
    const headers = { 'stripe-signature': String(request.headers['stripe-signature']) }
    const body = await text(request)
    const answer = await app.send('POST', WEBHOOK, { body, headers })
    response.writeHead(answer.status).end(answer.text)
  })
  return {
    url: `${loopback.origin}${WEBHOOK}`,
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  }
}

/** The payment method that pays for the subscription. */
export function methodOf({ double, atStripe }: Shop, id: string): string {
  const { customer, default_payment_method: own } = atStripe(id)
  const { invoice_settings } = double.world.state.tables.customers.get(String(customer)) ?? {}
  return String(own ?? invoice_settings?.default_payment_method)
}

export interface AuditRow {
  readonly app: string
  readonly action: string
  readonly detail: string | null
}

/** The audit log of the user, oldest first. */
export async function auditOf({ app, userId }: Shop): Promise<AuditRow[]> {
  const sql = 'SELECT app, action, detail FROM audit_log WHERE actor_id = ? ORDER BY id'
  const rows = await readRows<[string, string, string | null]>(app, sql, userId)
  return rows.map(([by, action, detail]) => ({ app: by, action, detail }))
}

/** Counts answered look-ups of the user in the paid period. */
export async function use(shop: Shop, requests: number): Promise<void> {
  const row = await shop.row()
  assert.ok(row)
  const { meters, plans } = shop.app.services
  const { periodStart: start, periodEnd: end, interval } = row
  const paid = { start, end, interval, overages: null }
  const plan = plans.ofUser(row.plan)
  meters
    .open({ userId: shop.userId, plan, paid, capShares: toCapShares(null), key: null }, shop.now())
    .count(requests)
}

/** What the user has paid, less the credit that is left, in cents. */
export function netOf({ double }: Shop): number {
  const { invoices, customers } = double.world.state.tables
  const paid = [...invoices.values()].reduce((sum, { amount_paid }) => sum + amount_paid, 0)
  return [...customers.values()].reduce((net, { balance }) => net + balance, paid)
}
