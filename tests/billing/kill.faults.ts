import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import Sqlite from 'better-sqlite3'
import type Stripe from 'stripe'
import type { Running } from '../e2e/process.ts'
import { type Asked, ask, openStore, type Store, SUBSCRIPTION, until } from '../e2e/store.ts'

/*
 * The process is killed with kill -9 when Stripe has done what it was told and has not answered yet,
 * at each call that changes something there. No event comes, neither then nor later: what was done is
 * found when the process starts again, and by the user who tries once more. In the end all is as
 * without the kills.
 */

interface Step {
  readonly name: string
  readonly ask: (store: Store) => Asked | Promise<Asked>
  /** It is killed at the first, second or third call that changes something, and tried again. */
  readonly kills: readonly number[]
  /** How it tells Stripe; POST unless told. */
  readonly method?: 'DELETE'
  /** What happens at Stripe afterwards, while no server runs. */
  readonly afterwards?: (store: Store) => void
}

const STEPS: readonly Step[] = [
  {
    name: 'checkout: customer, page, the closing of a page that nobody saw, and its successor',
    ask: () => ({ method: 'POST', path: SUBSCRIPTION, body: { planId: 'starter' } }),
    kills: [1, 2, 1, 1],
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
    name: 'payment method: attached, of the subscription, of the customer',
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

describe('kill -9 between what Stripe does and what we write', () => {
  it('leaves all as without it, and nothing is charged twice', async () => {
    const clean = await live('undisturbed')
    assert.equal(clean.invoices.length, 3)
    assert.equal(clean.customers.length, 1)
    assert.deepEqual(await live('killed'), clean)
  })

  it('removes a tax id, which is gone when that is tried again', async () => {
    await using store = await openStore({ starter: 1, pro: 2 })
    const key = await store.addUser('ada@example.com')
    const server = await store.start()
    await ask(server, key, { method: 'POST', path: SUBSCRIPTION, body: { planId: 'pro' } })
    const body = { type: 'eu_vat', value: 'DE123456789' }
    await ask(server, key, { method: 'POST', path: '/v1/billing/tax-ids', body })
    const { taxIds } = store.double.world.state.tables
    const [id] = taxIds.keys()
    const removal = { method: 'DELETE', path: `/v1/billing/tax-ids/${id}` }
    await killAt(store, () => ask(server, key, removal), { method: 'DELETE', change: 1, server })
    assert.equal(taxIds.size, 0)
    assert.equal((await ask(await store.start(), key, removal)).status, 404)
  })
})

async function live(how: 'undisturbed' | 'killed') {
  await using store = await openStore({ starter: 1, pro: 2 })
  const key = await store.addUser('ada@example.com')
  let server = await store.start()
  for (const { name, ask: toAsked, kills, method = 'POST', afterwards } of STEPS) {
    const asked = await toAsked(store)
    for (const change of how === 'killed' ? kills : []) {
      await killAt(store, () => ask(server, key, asked), { method, change, server })
      server = await store.start()
      await until(() => isMirrored(store))
    }
    const { status, text } = await ask(server, key, asked)
    assert.ok(status === 200 || status === 201, `${name}: ${text}`)
    if (afterwards !== undefined) {
      await server.stop('SIGKILL')
      afterwards(store)
      server = await store.start()
      await until(() => isMirrored(store))
    }
    assert.ok(isMirrored(store), name)
  }
  return { ...summaryOf(store), answers: await answersTo(server, key) }
}

interface Killing {
  readonly server: Running
  readonly method: 'POST' | 'DELETE'
  /** Which call that changes something is the last. */
  readonly change: number
}

async function killAt(
  { double }: Store,
  act: () => Promise<unknown>,
  { server, method, change }: Killing,
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

/** Exactly one is open: the others are closed. */
function payOpenPage({ double }: Store): void {
  const { sessions } = double.world.state.tables
  const [open, ...others] = [...sessions.values()].filter(({ status }) => status === 'open')
  assert.deepEqual(others, [])
  double.payCheckout(open?.id ?? '', { card: 'pm_card_visa' })
}

/** Whether we know what Stripe has. */
function isMirrored({ double, dataDir, prices }: Store): boolean {
  const told = [...double.world.state.tables.subscriptions.values()].map((subscription) => ({
    id: subscription.id,
    plan: subscription.items.data[0]?.price.id === prices.pro ? 'pro' : 'starter',
    status: subscription.status,
    cancel_at: subscription.cancel_at === null ? null : subscription.cancel_at * 1000,
    overages: subscription.metadata['meridian_overages'] === 'on' ? 1 : 0,
  }))
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  try {
    const sql = 'SELECT id, plan, status, cancel_at, overages FROM subscriptions'
    return isDeepStrictEqual(db.prepare(sql).all(), told)
  } finally {
    db.close()
  }
}

/** All that is charged and kept at Stripe, without ids. */
function summaryOf({ double }: Store) {
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

/** What the user is shown. */
const PAGES = [
  SUBSCRIPTION,
  '/v1/billing/discount',
  '/v1/billing/details',
  '/v1/billing/tax-ids',
  '/v1/billing/payment-method-info',
] as const
/** Differs from run to run. */
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
