import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import Sqlite from 'better-sqlite3'
import type Stripe from 'stripe'
import type { Running } from '../support/process.ts'
import {
  ask,
  openServerShop,
  type Sent,
  type ServerShop,
  SUBSCRIPTION,
  until,
} from './server-shop.ts'

/*
 * At each call that changes something at Stripe, the process is killed with kill -9: after Stripe makes
 * the change, before Stripe answers. No event is ever delivered: the process finds the change when it
 * starts again, or when the user tries again. The final state must be the same as without kills.
 */

interface Step {
  readonly name: string
  readonly ask: (shop: ServerShop) => Sent | Promise<Sent>
  /** One number per killed try: the changing call at which the process is killed, counted from 1. */
  readonly kills: readonly number[]
  /** The method of the calls at which the process is killed; POST by default. */
  readonly method?: 'DELETE'
  /** What happens at Stripe after the step, while no server runs. */
  readonly afterwards?: (shop: ServerShop) => void
}

const STEPS: readonly Step[] = [
  {
    name: 'checkout: creates a customer and a page, closes a page that nobody saw, creates another',
    ask: () => ({ method: 'POST', path: SUBSCRIPTION, body: { planId: 'starter' } }),
    kills: [1, 1, 1, 1],
    afterwards: payOpenPage,
  },
  {
    name: 'preview',
    ask: () => ({ method: 'GET', path: `${SUBSCRIPTION}/preview?planId=pro` }),
    kills: [1],
  },
  {
    name: 'change to a larger plan',
    ask: () => ({ method: 'PUT', path: SUBSCRIPTION, body: { planId: 'pro' } }),
    kills: [1],
  },
  {
    name: 'overages on',
    ask: () => ({ method: 'PATCH', path: SUBSCRIPTION, body: { overagesEnabled: true } }),
    kills: [1],
  },
  {
    name: 'promotion code',
    ask: async ({ stripe }) => {
      const { id: coupon } = await stripe.coupons.create({ percent_off: 10, duration: 'forever' })
      const promotion = { type: 'coupon', coupon } as const
      await stripe.promotionCodes.create({ promotion, code: 'WELCOME' })
      return { method: 'POST', path: '/v1/billing/promo', body: { code: 'WELCOME' } }
    },
    kills: [1],
  },
  {
    name: 'tax id',
    ask: () => {
      const body = { type: 'eu_vat', value: 'DE123456789' }
      return { method: 'POST', path: '/v1/billing/tax-ids', body }
    },
    kills: [1],
  },
  {
    name: 'payment method: attaches it, sets it for the subscription and for the customer',
    ask: async ({ stripe }) => {
      const card = { type: 'card', card: { token: 'tok_mastercard' } } as const
      const { id: paymentMethodId } = await stripe.paymentMethods.create(card)
      return { method: 'POST', path: '/v1/billing/payment-method', body: { paymentMethodId } }
    },
    kills: [1, 1, 2],
  },
  {
    name: 'address',
    ask: () => {
      const body = { line1: '1 Example Street', city: 'London', country: 'GB' }
      return { method: 'PUT', path: '/v1/billing/address', body }
    },
    kills: [1],
  },
  { name: 'cancel', ask: () => ({ method: 'DELETE', path: SUBSCRIPTION }), kills: [1] },
  {
    name: 'reactivate',
    ask: () => ({ method: 'POST', path: `${SUBSCRIPTION}/reactivate` }),
    kills: [1],
  },
  {
    name: 'change to a smaller plan',
    ask: () => ({ method: 'PUT', path: SUBSCRIPTION, body: { planId: 'starter' } }),
    kills: [1],
  },
]

describe('kill -9 between a change at Stripe and our own write', () => {
  it('leaves the same state as without kills, and charges nothing twice', async () => {
    const clean = await runSteps('undisturbed')
    assert.equal(clean.invoices.length, 3)
    assert.equal(clean.customers.length, 1)
    assert.deepEqual(await runSteps('killed'), clean)
  })

  it('removes a tax id, and answers 404 when the user tries again', async () => {
    await using shop = await openServerShop({ starter: 1, pro: 2 })
    const key = await shop.addUser('ada@example.com')
    const server = await shop.start()
    await ask(server, key, { method: 'POST', path: SUBSCRIPTION, body: { planId: 'pro' } })
    const body = { type: 'eu_vat', value: 'DE123456789' }
    await ask(server, key, { method: 'POST', path: '/v1/billing/tax-ids', body })
    const { taxIds } = shop.double.world.state.tables
    const [id] = taxIds.keys()
    const removal = { method: 'DELETE', path: `/v1/billing/tax-ids/${id}` }
    await killAt(shop, () => ask(server, key, removal), { method: 'DELETE', change: 1, server })
    assert.equal(taxIds.size, 0)
    assert.equal((await ask(await shop.start(), key, removal)).status, 404)
  })
})

async function runSteps(how: 'undisturbed' | 'killed') {
  await using shop = await openServerShop({ starter: 1, pro: 2 })
  const key = await shop.addUser('ada@example.com')
  let server = await shop.start()
  for (const { name, ask: toRequest, kills, method = 'POST', afterwards } of STEPS) {
    const request = await toRequest(shop)
    for (const change of how === 'killed' ? kills : []) {
      await killAt(shop, () => ask(server, key, request), { method, change, server })
      server = await shop.start()
      await until(() => isMirrored(shop))
    }
    const { status, text } = await ask(server, key, request)
    assert.ok(status === 200 || status === 201, `${name}: ${text}`)
    if (afterwards !== undefined) {
      await server.stop('SIGKILL')
      afterwards(shop)
      server = await shop.start()
      await until(() => isMirrored(shop))
    }
    assert.ok(isMirrored(shop), name)
  }
  return { ...summaryOf(shop), answers: await answersTo(server, key) }
}

interface KillPoint {
  readonly server: Running
  readonly method: 'POST' | 'DELETE'
  /** The changing call at which the server is killed, counted from 1. */
  readonly change: number
}

/** Kills the server during `act`, once Stripe has made the changing call of this number. */
async function killAt(
  { double }: ServerShop,
  act: () => Promise<unknown>,
  { server, method, change }: KillPoint,
): Promise<void> {
  const count = () => double.calls().filter((call) => call.method !== 'GET').length
  const before = count()
  double.failCalls({ kind: 'slow', delayMs: 0, method }, change - 1)
  double.failCalls({ kind: 'late', delayMs: 60_000, method })
  const outcome = act().then(
    () => 'answered',
    () => 'cut off',
  )
  await until(() => count() === before + change)
  await server.stop('SIGKILL')
  assert.equal(await outcome, 'cut off')
  double.clearFaults()
}

/** Pays on the only page that is still open. */
function payOpenPage({ double }: ServerShop): void {
  const { sessions } = double.world.state.tables
  const [open, ...others] = [...sessions.values()].filter(({ status }) => status === 'open')
  assert.deepEqual(others, [])
  double.payCheckout(open?.id ?? '', { card: 'pm_card_visa' })
}

/** Whether our database agrees with Stripe. */
function isMirrored({ double, dataDir, prices }: ServerShop): boolean {
  const atStripe = [...double.world.state.tables.subscriptions.values()].map((subscription) => ({
    id: subscription.id,
    plan: subscription.items.data[0]?.price.id === prices.pro ? 'pro' : 'starter',
    status: subscription.status,
    cancel_at: subscription.cancel_at === null ? null : subscription.cancel_at * 1000,
    overages: subscription.metadata['meridian_overages'] === 'on' ? 1 : 0,
  }))
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  try {
    const sql = 'SELECT id, plan, status, cancel_at, overages FROM subscriptions'
    return isDeepStrictEqual(db.prepare(sql).all(), atStripe)
  } finally {
    db.close()
  }
}

/** Everything that Stripe charges and keeps, without ids. */
function summaryOf({ double }: ServerShop) {
  const { customers, subscriptions, sessions, invoices, taxIds, paymentMethods } =
    double.world.state.tables
  const cardOf = (id: Stripe.Subscription['default_payment_method']) =>
    paymentMethods.get(String(id))?.card?.last4
  return {
    customers: [...customers.values()].map(({ email, address, balance, invoice_settings }) => ({
      ...{ email, address, balance, card: cardOf(invoice_settings.default_payment_method) },
    })),
    subscriptions: [...subscriptions.values()].map((row) => ({
      prices: row.items.data.map(({ price }) => price.lookup_key),
      overages: row.metadata['meridian_overages'],
      discounts: row.discounts.length,
      isMarked: row.cancel_at !== null,
      card: cardOf(row.default_payment_method),
    })),
    openPages: [...sessions.values()].filter(({ status }) => status === 'open').length,
    invoices: [...invoices.values()].map(({ billing_reason, status, total, amount_paid }) => ({
      ...{ billing_reason, status, total, amount_paid },
    })),
    taxIds: [...taxIds.values()].map(({ value }) => value),
    cards: [...paymentMethods.values()]
      .filter(({ customer }) => customer !== null)
      .map(({ card }) => card?.last4),
    meterEvents: double.world.state.meterEvents.size,
  }
}

/** What the user sees. */
const PAGES = [
  SUBSCRIPTION,
  '/v1/billing/discount',
  '/v1/billing/details',
  '/v1/billing/tax-ids',
  '/v1/billing/payment-method-info',
] as const
/** Fields that differ from run to run. */
const VARYING: readonly string[] = ['id', 'stripePriceId', 'currentPeriodStart', 'currentPeriodEnd']

async function answersTo(server: Running, key: string): Promise<string[]> {
  const answers: string[] = []
  for (const path of PAGES) {
    const { body } = await ask(server, key, { method: 'GET', path })
    const known = (name: string, value: unknown) => (VARYING.includes(name) ? undefined : value)
    answers.push(JSON.stringify(body, known))
  }
  return answers
}
