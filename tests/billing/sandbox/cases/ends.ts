import assert from 'node:assert/strict'
import { changePrice } from '../../../../lib/billing/stripe/price-changes.ts'
import {
  cancelAtPeriodEnd,
  cancelNow,
  undoCancellation,
} from '../../../../lib/billing/stripe/subscriptions.ts'
import {
  collect,
  listLeftovers,
  sortLines,
} from '../../../../lib/billing/subscription/leftovers.ts'
import { PRO, UNIT } from '../catalogue.ts'
import { type Bench, DAY, HOUR } from '../sandbox.ts'
import { type Case, linesOf, sumOf } from './case.ts'
import { toYear } from './price-change.ts'

const UNITS = 20
const COST = UNITS * UNIT

/** Ends of subscriptions, and what is charged after them. */
export const ends: readonly Case[] = [
  {
    title: 'The cancellation of the portal keeps its date when the interval changes',
    source: 'billing/subscriptions/billing-mode/compare, "Cancellations in the Customer Portal"',
    run: async ({ sdk, prices, subscribe, subscriptionOf, clock, ...bench }) => {
      const { id, end, item } = await subscribe([prices.pro])
      await sdk.subscriptions.update(id, { cancel_at: 'min_period_end' })
      await clock.pass(10 * DAY)
      await changePrice(
        bench.openStripe(),
        toYear({ id, item }, prices.proYearly, clock.now()),
        'keep',
      )
      const { cancel_at, cancel_at_period_end, items } = await subscriptionOf(id)
      assert.equal(cancel_at, end)
      assert.equal(cancel_at_period_end, false)
      assert.ok((items.data[0]?.current_period_end ?? 0) > end, 'a year was paid')
    },
  },
  {
    title: 'Our cancellation at the end of the period follows the period',
    source: 'SDK: Subscription.cancel_at_period_end: "at the end of the current billing period"',
    run: async ({ prices, subscribe, subscriptionOf, clock, openStripe }) => {
      const { id, item } = await subscribe([prices.pro])
      await cancelAtPeriodEnd(openStripe(), id)
      await clock.pass(10 * DAY)
      await changePrice(openStripe(), toYear({ id, item }, prices.proYearly, clock.now()), 'keep')
      const { cancel_at, items } = await subscriptionOf(id)
      assert.equal(cancel_at, items.data[0]?.current_period_end)
    },
  },
  {
    title: 'Both kinds of cancellation can be taken back',
    source: 'SDK: SubscriptionUpdateParams.cancel_at',
    run: async ({ sdk, prices, subscribe, subscriptionOf, openStripe }) => {
      const { id } = await subscribe([prices.pro])
      for (const cancel of [
        () => cancelAtPeriodEnd(openStripe(), id),
        () => sdk.subscriptions.update(id, { cancel_at: 'min_period_end' }),
      ]) {
        await cancel()
        assert.notEqual((await subscriptionOf(id)).cancel_at, null)
        await undoCancellation(openStripe(), id)
        assert.equal((await subscriptionOf(id)).cancel_at, null)
      }
    },
  },
  {
    title: 'An end without invoice_now discards the usage',
    source: 'billing/subscriptions/cancel: "all metered usage gets discarded"',
    run: async (bench) => {
      const { id } = await subscribeWithUsage(bench)
      await bench.sdk.subscriptions.cancel(id)
      await bench.clock.pass(2 * DAY)
      assert.equal(await chargedUsage(bench, id), 0)
    },
  },
  {
    title: 'Our end at once invoices the usage',
    source: 'SDK: SubscriptionCancelParams.invoice_now: "any un-invoiced metered usage"',
    run: async (bench) => {
      const { id } = await subscribeWithUsage(bench)
      await cancelNow(bench.openStripe(), id)
      await bench.clock.pass(2 * DAY)
      assert.equal(await chargedUsage(bench, id), COST)
      assert.equal((await bench.subscriptionOf(id)).status, 'canceled')
    },
  },
  {
    title: 'The end of the period invoices the usage',
    source: 'billing/subscriptions/cancel',
    run: async (bench) => {
      const { id, end } = await subscribeWithUsage(bench)
      await cancelAtPeriodEnd(bench.openStripe(), id)
      await bench.clock.passTo(end + 2 * HOUR)
      assert.equal((await bench.subscriptionOf(id)).status, 'canceled')
      assert.equal(await chargedUsage(bench, id), COST)
    },
  },
  {
    title: 'An end stops the collection of drafts',
    source:
      'billing/subscriptions/overview, "automatic collection … is disabled (auto_advance=false)"',
    run: async (bench) => {
      const { id, end } = await subscribeWithUsage(bench)
      // The draft of a renewal waits an hour.
      await bench.clock.passTo(end + 600)
      const [, draft] = await bench.invoicesOf(id)
      assert.equal(draft?.status, 'draft')
      await bench.sdk.subscriptions.cancel(id, { invoice_now: true })
      await bench.clock.pass(2 * DAY)
      const [, left] = await bench.invoicesOf(id)
      assert.deepEqual([left?.status, left?.auto_advance], ['draft', false])
      assert.equal(left?.total, PRO + COST)
    },
  },
  {
    title:
      'Our collection charges the usage that an end has left, with the last units, but no new period',
    source:
      'invoicing/integration/automatic-advancement-collection; api/invoices/remove_lines: whether a line of a subscription can be removed is to be found out',
    run: async (bench) => {
      const { id, customer, end } = await subscribeWithUsage(bench)
      await bench.clock.passTo(end + 600)
      await cancelNow(bench.openStripe(), id)
      const leftovers = await Array.fromAsync(listLeftovers(bench.openStripe, 'draft', customer))
      for (const leftover of leftovers) {
        const { fees } = await sortLines(bench.openStripe(), leftover)
        await collect(bench.openStripe(), leftover.invoice.id, fees)
      }
      await bench.clock.pass(2 * HOUR)
      const paid = (await bench.invoicesOf(id)).slice(1).filter(({ status }) => status === 'paid')
      assert.equal(sumOf(paid.map(({ total: amount }) => ({ amount }))), COST)
      assert.equal(await chargedUsage(bench, id), COST)
    },
  },
]

async function subscribeWithUsage({ prices, subscribe, clock, use }: Bench) {
  const metadata = { meridian_user: 'of the case' }
  const subscribed = await subscribe([prices.pro, prices.overage], { metadata })
  await clock.pass(DAY)
  await use(subscribed.customer, UNITS)
  await clock.pass(DAY)
  return subscribed
}

/** What all invoices of the subscription charge for usage. */
async function chargedUsage({ invoicesOf, prices }: Bench, id: string): Promise<number> {
  return sumOf(linesOf(await invoicesOf(id), prices.overage))
}
