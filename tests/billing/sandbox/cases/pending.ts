import assert from 'node:assert/strict'
import { changePrice, findUnpaid } from '../../../../lib/billing/stripe/price-changes.ts'
import { UNIT } from '../catalogue.ts'
import { type Bench, DAY, HOUR, type Subscribed } from '../sandbox.ts'
import { type Case, linesOf, sumOf } from './case.ts'
import { toPlan } from './price-change.ts'

const UNITS = 20
const SOURCE = 'billing/subscriptions/pending-updates'

/** Changes that the bank wants confirmed. */
export const pending: readonly Case[] = [
  {
    title: 'A change that the bank wants confirmed is refused as a card error',
    source: 'error-codes: subscription_payment_intent_requires_action',
    run: async (bench) => {
      const { id, item } = await subscribeWithAskingCard(bench, [bench.prices.starter])
      const change = bench.sdk.subscriptions.update(id, {
        items: [{ id: item, price: bench.prices.pro }],
        proration_behavior: 'always_invoice',
        payment_behavior: 'error_if_incomplete',
      })
      const code = 'subscription_payment_intent_requires_action'
      await assert.rejects(change, { type: 'StripeCardError', statusCode: 402, code })
    },
  },
  {
    title: 'Our pending change has metadata, which take effect with it when its invoice is paid',
    source: 'changelog/dahlia/2026-05-27/pending-subscription-update-metadata: "merged"',
    run: async (bench) => {
      const { sdk, prices, clock, openStripe, subscriptionOf, addCard } = bench
      const subscribed = await subscribeWithAskingCard(bench, [prices.starter])
      const change = toPlan(subscribed, prices.pro, clock.now())
      const waiting = await changePrice(openStripe(), change, 'off')
      assert.deepEqual(waiting?.prices, [prices.pro])
      const before = await subscriptionOf(subscribed.id)
      assert.equal(before.items.data[0]?.price.id, prices.starter)
      assert.equal(before.metadata['meridian_overages'], undefined)
      // Nobody can confirm here, so another card pays.
      const payment_method = await addCard(subscribed.customer, 'pm_card_visa')
      await sdk.invoices.pay(waiting.invoiceId, { payment_method })
      const { items, metadata, pending_update } = await subscriptionOf(subscribed.id)
      assert.equal(pending_update, null)
      assert.equal(items.data[0]?.price.id, prices.pro)
      assert.equal(metadata['meridian_overages'], 'off')
    },
  },
  {
    title: 'Voiding its invoice drops a pending change',
    source: `${SOURCE}, "To cancel a pending update, you need to void the invoice"`,
    run: async (bench) => {
      const { prices, clock, openStripe, subscriptionOf } = bench
      const subscribed = await subscribeWithAskingCard(bench, [prices.starter])
      const waiting = await changePrice(
        openStripe(),
        toPlan(subscribed, prices.pro, clock.now()),
        'keep',
      )
      assert.ok(waiting)
      assert.equal(
        (await findUnpaid(openStripe(), subscribed.id)).pending?.invoiceId,
        waiting.invoiceId,
      )
      await openStripe().invoices.voidInvoice(waiting.invoiceId)
      const { items, pending_update } = await subscriptionOf(subscribed.id)
      assert.equal(pending_update, null)
      assert.equal(items.data[0]?.price.id, prices.starter)
    },
  },
  {
    title: 'A pending change takes the usage with it, and discards it when it expires',
    source: `${SOURCE}, "Metered items"; the change expires after 23 hours`,
    run: async (bench) => {
      const { sdk, prices, clock, subscriptionOf, invoicesOf } = bench
      const { id, item, customer, end } = await subscribeWithAskingCard(bench, [
        prices.starter,
        prices.overage,
      ])
      await clock.pass(DAY)
      await bench.use(customer, UNITS)
      await clock.pass(DAY)
      await sdk.subscriptions.update(id, {
        items: [{ id: item, price: prices.pro }],
        proration_behavior: 'always_invoice',
        payment_behavior: 'pending_if_incomplete',
      })
      const [, waiting] = await invoicesOf(id)
      assert.ok(waiting)
      assert.equal(sumOf(linesOf([waiting], prices.overage)), UNITS * UNIT)
      const { pending_update } = await subscriptionOf(id)
      assert.equal(pending_update?.expires_at, clock.now() + 23 * HOUR)
      await clock.pass(DAY)
      assert.equal((await subscriptionOf(id)).pending_update, null)
      assert.equal((await invoicesOf(id))[1]?.status, 'void')
      await clock.passTo(end + 2 * HOUR)
      const [, , ...later] = await invoicesOf(id)
      assert.ok(later.length > 0)
      assert.equal(sumOf(linesOf(later, prices.overage)), 0)
    },
  },
]

/** The first payment succeeds; from then on the bank asks for every one. */
async function subscribeWithAskingCard(
  { sdk, subscribe, addCard }: Bench,
  prices: readonly string[],
): Promise<Subscribed> {
  const subscribed = await subscribe(prices)
  const asks = await addCard(subscribed.customer, 'pm_card_authenticationRequired')
  await sdk.subscriptions.update(subscribed.id, { default_payment_method: asks })
  return subscribed
}
