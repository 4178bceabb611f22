import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { DeliverySwitch } from '../../../stripe-double/webhooks/delivery-switches.ts'
import { readRows } from '../../support/database/sql.ts'
import { ask, CAP, overagePlans } from '../overages/overages.ts'
import { openShop, type Shop, SUBSCRIPTION } from '../shop.ts'

// run: only on Node.js

/*
 * A user runs the first steps of a subscription while events are lost, doubled or reordered. Events
 * arrive during later steps. After reconciliation, the state must be the same as without faults.
 */

const RUNS = 200
const MINUTE = 60
const HOUR = 60 * MINUTE
/** More events than all steps cause. */
const DELIVERIES = 100

const STEPS: readonly ((shop: Shop) => Promise<unknown>)[] = [
  async (shop) => {
    await send(shop, 'POST', SUBSCRIPTION, { planId: 'starter' })
    const [session] = shop.double.world.state.tables.sessions.keys()
    shop.double.payCheckout(session ?? '', { card: 'pm_card_visa' })
    // The user waits for the plan.
    await reconcileAfterEvents(shop)
  },
  async (shop) => {
    await send(shop, 'GET', `${SUBSCRIPTION}/preview?planId=pro`)
    shop.pass(10 * MINUTE)
    await send(shop, 'PUT', SUBSCRIPTION, { planId: 'pro' })
  },
  (shop) => send(shop, 'PATCH', SUBSCRIPTION, { overagesEnabled: true }),
  (shop) => ask(shop.app, shop.key, CAP + 4),
  async (shop) => {
    advancePastPeriodEnd(shop)
    await shop.app.services.overages.reportDue()
    await ask(shop.app, shop.key, CAP + 2)
  },
  async (shop) => shop.pass(2 * HOUR),
  (shop) => send(shop, 'DELETE', SUBSCRIPTION),
  (shop) => send(shop, 'POST', `${SUBSCRIPTION}/reactivate`),
  (shop) => send(shop, 'DELETE', SUBSCRIPTION),
  async (shop) => advancePastPeriodEnd(shop),
  async (shop) => shop.pass(2 * HOUR),
]

/** Some runs have one kind of fault, such as every event lost; others have several. */
const anyFaults = fc
  .subarray(['pass', 'drop', 'duplicate', 'reorder'] as const, { minLength: 1 })
  .chain((kinds) =>
    fc.array(fc.constantFrom(...kinds), { minLength: DELIVERIES, maxLength: DELIVERIES }),
  )

describe('lost, doubled and reordered events', () => {
  it('leave the same state as events in order, after reconciliation', async () => {
    const clean: object[] = []
    for (let steps = 1; steps <= STEPS.length; steps++) clean.push(await runSteps(steps, []))
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: STEPS.length }),
        anyFaults,
        async (steps, faults) => {
          assert.deepEqual(await runSteps(steps, faults), clean[steps - 1])
        },
      ),
      { numRuns: RUNS, endOnFailure: true },
    )
  })
})

/** Runs the first `steps` steps. */
async function runSteps(steps: number, faults: readonly DeliverySwitch[]) {
  await using shop = await openShop({ env: { MERIDIAN_PLANS: overagePlans() } })
  for (const fault of faults) shop.double.switchDeliveries(fault)
  for (const step of STEPS.slice(0, steps)) {
    await step(shop)
    await shop.app.services.overages.reportDue()
  }
  await reconcileAfterEvents(shop)
  shop.pass(MINUTE)
  await shop.app.services.overages.reportDue()
  await reconcileAfterEvents(shop)
  return await summaryOf(shop)
}

async function send(shop: Shop, method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await shop.send(method, path, body)
  assert.equal(status, 200, text)
}

/** Waits for all events, then reconciles. */
async function reconcileAfterEvents(shop: Shop): Promise<void> {
  await shop.settled()
  await shop.app.services.reconciliation.run()
}

/** Advances the clocks to a minute after the end of the period. */
function advancePastPeriodEnd(shop: Shop): void {
  const [subscription] = shop.double.world.state.tables.subscriptions.values()
  const end = subscription?.items.data[0]?.current_period_end ?? 0
  shop.pass(end - shop.double.now() + MINUTE)
}

/** Everything that we store and that Stripe charges, without ids. */
async function summaryOf(shop: Shop) {
  const row = await shop.row()
  const { subscriptions, invoices, customers } = shop.double.world.state.tables
  const { body } = await shop.send('GET', SUBSCRIPTION)
  return {
    mirror: row && {
      ...row,
      ...{ userId: '', id: '', itemId: '', priceId: '' },
      overageItemId: row.overageItemId !== null,
      isAtStripe: [...subscriptions.keys()].includes(row.id),
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
    usage: await readAll(
      shop,
      'SELECT period_start, requests, overage FROM usage_by_period ORDER BY 1',
    ),
    unsent: await readAll(shop, 'SELECT identifier FROM overage_reports WHERE sent_at IS NULL'),
  }
}

/** Sums the units, since the number of events depends on when the units were reported. */
function meteredByPeriod({ double }: Shop) {
  const units = new Map<string, number>()
  for (const [identifier, { value }] of double.world.state.meterEvents) {
    const [, , period = ''] = identifier.split(':')
    units.set(period, (units.get(period) ?? 0) + value)
  }
  return [...units].toSorted()
}

function readAll({ app }: Shop, sql: string): Promise<unknown[][]> {
  return readRows(app, sql)
}
