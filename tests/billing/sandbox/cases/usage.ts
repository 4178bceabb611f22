import assert from 'node:assert/strict'
import { countUnits } from '../../../../lib/billing/overages/meter.ts'
import { removeItem } from '../../../../lib/billing/overages/remove-items.ts'
import { sendMeterEvent } from '../../../../lib/billing/overages/send-report.ts'
import { switchOverages } from '../../../../lib/billing/stripe/subscriptions.ts'
import { PRO, UNIT } from '../catalogue.ts'
import { type Bench, DAY, HOUR } from '../sandbox.ts'
import { type Case, linesOf, sumOf } from './case.ts'

/** Meter events, and which invoices charge them. */
export const usage: readonly Case[] = [
  {
    title: 'An event with the same identifier counts once',
    source: 'SDK: V2.Billing.MeterEventCreateParams.identifier: unique for 24 hours',
    run: async ({ addCustomer, use, openStripe, prices, clock }) => {
      const customer = await addCustomer()
      const event = {
        identifier: `sandbox-${crypto.randomUUID()}`,
        customerId: customer,
        units: 3,
        at: clock.now() * 1000,
      }
      await sendMeterEvent(openStripe(), event)
      await sendMeterEvent(openStripe(), event)
      // Later units are counted after those, so the wait for them is long enough.
      await use(customer, 4)
      const end = clock.now() - (clock.now() % 60) + 60
      const span = { start: (end - DAY) * 1000, end: end * 1000 }
      assert.equal(await countUnits(openStripe(), prices.overage, customer, span), 7)
    },
  },
  {
    title: 'Our event for a customer that does not exist is accepted, and never counted',
    source: 'OpenAPI: POST /v2/billing/meter_events has no error about customers: to be found out',
    run: async (bench) => {
      await send(bench, { customerId: 'cus_MeridianHasNone' })
    },
  },
  {
    title: 'Our event for an archived meter is refused when it is sent',
    source: 'OpenAPI: POST /v2/billing/meter_events, archived_meter',
    run: async (bench) => {
      const customerId = await bench.addCustomer()
      await bench.sdk.billing.meters.deactivate(bench.meter)
      try {
        await assert.rejects(send(bench, { customerId }))
      } finally {
        await bench.sdk.billing.meters.reactivate(bench.meter)
      }
    },
  },
  {
    title: 'Our event from more than 35 days ago, or from the future, is refused',
    source: 'SDK: V2.Billing.MeterEventCreateParams.timestamp',
    run: async (bench) => {
      const customerId = await bench.addCustomer()
      // Beyond both limits by the clock of the case and by the real one.
      const [old, future] = [bench.clock.now() - 36 * DAY, Date.now() / 1000 + 3 * 365 * DAY]
      await assert.rejects(send(bench, { customerId, at: old * 1000 }))
      await assert.rejects(send(bench, { customerId, at: future * 1000 }))
    },
  },
  {
    title: 'A metered item charges what is used after it was added',
    source: 'no source: to be found out',
    run: async ({ prices, subscribe, use, clock, openStripe, invoicesOf }) => {
      const { id, customer, end } = await subscribe([prices.pro])
      await clock.pass(DAY)
      await use(customer, 5)
      await clock.pass(DAY)
      await switchOverages(openStripe(), id, 'on', prices.overage)
      await clock.pass(DAY)
      await use(customer, 7)
      await clock.passTo(end + 2 * HOUR)
      const [, renewal] = await invoicesOf(id)
      assert.equal(renewal?.total, PRO + 7 * UNIT)
    },
  },
  {
    title: 'Two subscriptions of a customer are both charged for the same usage',
    source: 'SDK: Billing.Meter.customer_mapping: events count per customer, not per subscription',
    run: async ({ prices, subscribe, use, clock, invoicesOf }) => {
      const first = await subscribe([prices.pro, prices.overage])
      const { customer } = first
      const second = await subscribe([prices.starter, prices.overage], { customer })
      await clock.pass(DAY)
      await use(customer, 10)
      await clock.passTo(first.end + 2 * HOUR)
      for (const { id } of [first, second]) {
        assert.equal(sumOf(linesOf(await invoicesOf(id), prices.overage)), 10 * UNIT)
      }
    },
  },
  {
    title: 'Our removal of the metered item charges at once what was used until then',
    source: 'billing/subscriptions/usage-based/manage-billing-setup: removed metered prices',
    run: async (bench) => {
      const { id, customer, metered } = await useTen(bench)
      await removeItem(bench.openStripe(), id, metered)
      const usageNow = linesOf(await bench.invoicesOf(id), bench.prices.overage)
      assert.equal(sumOf(usageNow), 10 * UNIT)
      await bench.clock.pass(DAY)
      await bench.use(customer, 3)
      await bench.clock.pass(32 * DAY)
      assert.equal(sumOf(linesOf(await bench.invoicesOf(id), bench.prices.overage)), 10 * UNIT)
    },
  },
  {
    title: 'A removal without prorations charges nothing',
    source:
      'billing/subscriptions/usage-based/manage-billing-setup: "set proration_behavior to none"',
    run: async (bench) => {
      const { id, metered } = await useTen(bench)
      const items = [{ id: metered, deleted: true }]
      await bench.sdk.subscriptions.update(id, { items, proration_behavior: 'none' })
      await bench.clock.pass(32 * DAY)
      assert.equal(sumOf(linesOf(await bench.invoicesOf(id), bench.prices.overage)), 0)
    },
  },
  {
    title: 'A coupon for all products lowers the usage, too',
    source: 'SDK: Coupon.applies_to',
    run: async ({ prices, subscribe, addCoupon, use, clock, invoicesOf }) => {
      const coupon = await addCoupon({ percent_off: 100, duration: 'forever' })
      const plan = [prices.pro, prices.overage]
      const { id, customer, end } = await subscribe(plan, { discounts: [{ coupon }] })
      await clock.pass(DAY)
      await use(customer, 10)
      await clock.passTo(end + 2 * HOUR)
      const [, renewal] = await invoicesOf(id)
      assert.deepEqual([renewal?.subtotal, renewal?.total], [PRO + 10 * UNIT, 0])
    },
  },
]

/** A subscription that has used ten units, an hour ago. */
async function useTen({ prices, subscribe, subscriptionOf, use, clock }: Bench) {
  const { id, customer } = await subscribe([prices.pro, prices.overage])
  await clock.pass(DAY)
  await use(customer, 10)
  await clock.pass(HOUR)
  const items = (await subscriptionOf(id)).items.data
  const metered = items.find(({ price }) => price.id === prices.overage)
  assert.ok(metered)
  return { id, customer, metered: metered.id }
}

function send({ openStripe, clock }: Bench, event: { customerId: string; at?: number }) {
  const identifier = `sandbox-${crypto.randomUUID()}`
  return sendMeterEvent(openStripe(), { at: clock.now() * 1000, units: 1, identifier, ...event })
}
