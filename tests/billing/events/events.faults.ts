import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { DeliverySwitch } from '../../stripe-double/webhooks/delivery-switches.ts'
import { openShop, type Shop, SUBSCRIPTION } from '../billing/shop.ts'
import { ask, CAP, overagePlans } from '../overages.ts'

/*
 * A user's life with a plan while events are lost, come twice or in another order, up to some step of
 * it. They come while the user goes on. After reconciliation all is as without those faults.
 */

const RUNS = 200
const MINUTE = 60
const HOUR = 60 * MINUTE
/** More than come in a life. */
const DELIVERIES = 100

const STEPS: readonly ((shop: Shop) => Promise<unknown>)[] = [
  async (shop) => {
    await send(shop, 'POST', SUBSCRIPTION, { planId: 'starter' })
    const [session] = shop.double.world.state.tables.sessions.keys()
    shop.double.payCheckout(session ?? '', { card: 'pm_card_visa' })
    // The user waits for the plan.
    await repair(shop)
  },
  async (shop) => {
    await send(shop, 'GET', `${SUBSCRIPTION}/preview?planId=pro`)
    shop.pass(10 * MINUTE)
    await send(shop, 'PUT', SUBSCRIPTION, { planId: 'pro' })
  },
  (shop) => send(shop, 'PATCH', SUBSCRIPTION, { overagesEnabled: true }),
  (shop) => ask(shop.app, shop.key, CAP + 4),
  async (shop) => {
    passToEnd(shop)
    await shop.app.services.overages.reportDue()
    await ask(shop.app, shop.key, CAP + 2)
  },
  async (shop) => shop.pass(2 * HOUR),
  (shop) => send(shop, 'DELETE', SUBSCRIPTION),
  (shop) => send(shop, 'POST', `${SUBSCRIPTION}/reactivate`),
  (shop) => send(shop, 'DELETE', SUBSCRIPTION),
  async (shop) => passToEnd(shop),
  async (shop) => shop.pass(2 * HOUR),
]

/** Of one kind in some lives, so that all events are lost, and of several in others. */
const anyFaults = fc
  .subarray(['pass', 'drop', 'duplicate', 'reorder'] as const, { minLength: 1 })
  .chain((kinds) =>
    fc.array(fc.constantFrom(...kinds), { minLength: DELIVERIES, maxLength: DELIVERIES }),
  )

describe('events that are lost, come twice or in another order', () => {
  it('lead to what they would have led to, once reconciled', async () => {
    const clean: object[] = []
    for (let steps = 1; steps <= STEPS.length; steps++) clean.push(await live(steps, []))
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: STEPS.length }),
        anyFaults,
        async (steps, faults) => {
          assert.deepEqual(await live(steps, faults), clean[steps - 1])
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    )
  })
})

/** The first `steps` steps. */
async function live(steps: number, faults: readonly DeliverySwitch[]) {
  await using shop = await openShop({ env: { MERIDIAN_PLANS: overagePlans() } })
  for (const fault of faults) shop.double.switchDeliveries(fault)
  for (const step of STEPS.slice(0, steps)) {
    await step(shop)
    await shop.app.services.overages.reportDue()
  }
  await repair(shop)
  shop.pass(MINUTE)
  await shop.app.services.overages.reportDue()
  await repair(shop)
  return await summaryOf(shop)
}

async function send(shop: Shop, method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await shop.send(method, path, body)
  assert.equal(status, 200, text)
}

/** What comes of itself: all events, and reconciliation after them. */
async function repair(shop: Shop): Promise<void> {
  await shop.settled()
  await shop.app.services.reconciliation.run()
}

/** To a minute after the end of the period. */
function passToEnd(shop: Shop): void {
  const [subscription] = shop.double.world.state.tables.subscriptions.values()
  const end = subscription?.items.data[0]?.current_period_end ?? 0
  shop.pass(end - shop.double.now() + MINUTE)
}

/** All that we know and that is charged, without ids. */
async function summaryOf(shop: Shop) {
  const row = await shop.row()
  const { subscriptions, invoices, customers } = shop.double.world.state.tables
  const { body } = await shop.send('GET', SUBSCRIPTION)
  return {
    mirror: row && {
      ...row,
      ...{ userId: '', id: '', itemId: '', overageItemId: row.overageItemId !== null },
      isTold: [...subscriptions.keys()].includes(row.id),
    },
    shown: JSON.stringify(body, (name, value) => (/id$/i.test(name) ? undefined : value)),
    customers: customers.size,
    subscriptions: [...subscriptions.values()].map(({ status, cancel_at, metadata, items }) => ({
      ...{ status, cancel_at, overages: metadata['meridian_overages'] },
      prices: items.data.map(({ price }) => price.lookup_key),
    })),
    invoices: [...invoices.values()].map(({ billing_reason, status, amount_paid, lines }) => ({
      ...{ billing_reason, status, amount_paid },
      lines: lines.data.map(({ amount, quantity }) => [amount, quantity]),
    })),
    metered: meteredByPeriod(shop),
    usage: readAll(shop, 'SELECT period_start, requests, overage FROM usage_by_period ORDER BY 1'),
    unsent: readAll(shop, 'SELECT identifier FROM overage_reports WHERE sent_at IS NULL'),
  }
}

/** How many units in how many events is a matter of when they were told. */
function meteredByPeriod({ double }: Shop) {
  const units = new Map<string, number>()
  for (const [identifier, { value }] of double.world.state.meterEvents) {
    const [, , period = ''] = identifier.split(':')
    units.set(period, (units.get(period) ?? 0) + value)
  }
  return [...units].toSorted()
}

function readAll({ app }: Shop, sql: string): unknown[] {
  return app.services.db.$client.prepare(sql).all()
}
