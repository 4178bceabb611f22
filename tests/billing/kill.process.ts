import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import Sqlite from 'better-sqlite3'
import * as v from 'valibot'
import { PlanChangeResponse } from '../../lib/contract/billing/billing-schemas.ts'
import type { CheckoutEntry } from '../../stripe-double/resources/checkout/complete-checkout.ts'
import type { Running } from '../support/process.ts'
import {
  ask,
  openServerShop,
  type Sent,
  type ServerShop,
  SUBSCRIPTION,
  until,
} from './server-shop.ts'
import { answersTo, summaryOf, totals } from './server-state.ts'

// run: only on Node.js

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
    name: 'checkout: creates and names a customer, opens a page, closes it unseen, opens another',
    ask: () => ({ method: 'POST', path: SUBSCRIPTION, body: { planId: 'starter' } }),
    kills: [1, 1, 1, 1, 1],
    afterwards: (shop) => payOpenPage(shop),
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
    name: 'new card: attaches it, pays the open invoice, sets it for subscription and customer',
    ask: async (shop) => {
      await failRenewal(shop)
      const card = { type: 'card', card: { token: 'tok_visa' } } as const
      const { id: paymentMethodId } = await shop.stripe.paymentMethods.create(card)
      return { method: 'POST', path: '/v1/billing/payment-method', body: { paymentMethodId } }
    },
    kills: [1, 1, 1, 2],
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
    assert.equal(clean.invoices.length, 4)
    assert.equal(clean.customers.length, 1)
    assert.deepEqual(await runSteps('killed'), clean)
  })

  it('leaves one change that waits for a confirmation, and charges it once', async () => {
    await using shop = await openServerShop({ starter: 1, pro: 2 })
    const key = await shop.addUser('ada@example.com')
    let server = await shop.start()
    await ask(server, key, { method: 'POST', path: SUBSCRIPTION, body: { planId: 'starter' } })
    await server.stop('SIGKILL')
    payOpenPage(shop, { card: '4000002760003184', authentication: 'confirmed' })
    server = await shop.start()
    await until(() => isMirrored(shop))
    const change = { method: 'PUT', path: SUBSCRIPTION, body: { planId: 'pro' } }
    for (const call of [1, 2]) {
      const point = { method: 'POST', change: call, server } as const
      await killAt(shop, () => ask(server, key, change), point)
      server = await shop.start()
      await until(() => isMirrored(shop))
    }
    const { body } = await ask(server, key, change)
    assert.deepEqual(totals(shop), ['paid 100', 'open 100'])
    await server.stop('SIGKILL')
    const answer = new URLSearchParams({ authentication: 'confirmed' })
    const { confirmation } = v.parse(PlanChangeResponse, body)
    await fetch(confirmation?.url ?? '', { method: 'POST', body: answer, redirect: 'manual' })
    server = await shop.start()
    await until(() => isMirrored(shop))
    assert.deepEqual(totals(shop), ['paid 100', 'paid 100'])
    const { text } = await ask(server, key, { method: 'GET', path: SUBSCRIPTION })
    assert.match(text, /"id":"pro"/)
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

/** Lets the next renewal fail. */
async function failRenewal({ double, stripe }: ServerShop): Promise<void> {
  const [subscription] = double.world.state.tables.subscriptions.values()
  assert.ok(subscription)
  const customer = String(subscription.customer)
  const { id } = await stripe.paymentMethods.attach('pm_card_chargeCustomerFail', { customer })
  await stripe.subscriptions.update(subscription.id, { default_payment_method: id })
  double.advance(31 * 86_400 + 3_600)
}

/** Pays on the only page that is still open. */
function payOpenPage(
  { double }: ServerShop,
  entry: CheckoutEntry = { card: 'pm_card_visa' },
): void {
  const { sessions } = double.world.state.tables
  const [open, ...others] = [...sessions.values()].filter(({ status }) => status === 'open')
  assert.deepEqual(others, [])
  double.payCheckout(open?.id ?? '', entry)
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
