import assert from 'node:assert/strict'
import type Stripe from 'stripe'
import { closeCheckouts, openCheckout } from '../../../../lib/billing/stripe/checkout.ts'
import { hasCustomer } from '../../../../lib/billing/stripe/customers.ts'
import { payWith } from '../../../../lib/billing/stripe/payment-methods.ts'
import { findUnpaid } from '../../../../lib/billing/stripe/price-changes.ts'
import { findSubscriptions } from '../../../../lib/billing/stripe/subscriptions.ts'
import { PRO } from '../catalogue.ts'
import { type Bench, DAY, HOUR } from '../sandbox.ts'
import type { Case } from './case.ts'

/** Payments that fail, customers that are gone, and the checkout. */
export const other: readonly Case[] = [
  {
    title: 'A new card that pays the open invoice makes a past due subscription active',
    source: 'SDK: Subscription.status, past_due',
    run: async (bench) => {
      const { id, customer } = await failRenewal(bench)
      const { openStripe, addCard, subscriptionOf } = bench
      assert.equal((await subscriptionOf(id)).status, 'past_due')
      const { invoices } = await findUnpaid(openStripe(), id)
      assert.equal(invoices.length, 1)
      const card = await addCard(customer, 'pm_card_visa')
      const payer = { customerId: customer, subscriptionId: id }
      await payWith(openStripe(), payer, invoices, card)
      assert.equal((await subscriptionOf(id)).status, 'active')
    },
  },
  {
    title:
      "A method of the subscription pays before that of the customer; ours is only the customer's",
    source: 'SDK: Subscription.default_payment_method: "If neither are set, invoices will use …"',
    run: async ({ sdk, prices, addCustomer, addCard, subscribe, openStripe, clock, ...bench }) => {
      const customer = await addCustomer()
      const own = { default_payment_method: await addCard(customer, 'pm_card_visa') }
      const { id, end } = await subscribe([prices.pro], { customer, ...own })
      const failing = await addCard(customer, 'pm_card_chargeCustomerFail')
      const settings = { default_payment_method: failing }
      await sdk.customers.update(customer, { invoice_settings: settings })
      await clock.passTo(end + 2 * HOUR)
      assert.equal((await bench.subscriptionOf(id)).status, 'active')
      await payWith(openStripe(), { customerId: customer, subscriptionId: id }, [], failing)
      assert.equal((await bench.subscriptionOf(id)).default_payment_method, null)
      await clock.pass(31 * DAY + 2 * HOUR)
      assert.equal((await bench.subscriptionOf(id)).status, 'past_due')
    },
  },
  {
    title: 'An unpaid subscription leaves drafts, and an older invoice does not start it again',
    source:
      'billing/subscriptions/overview: they "remain in `draft`"; SDK: Subscription.status says "closed"',
    run: async (bench) => {
      const { id, customer } = await failRenewal(bench)
      const { sdk, addCard, invoicesOf, subscriptionOf } = bench
      const status = await endDunning(bench, id)
      // What follows the last attempt is a setting of the account: without `unpaid` this ends here.
      if (status !== 'unpaid') return assert.equal(status, 'canceled')
      const late = (await invoicesOf(id)).filter((invoice) => invoice.status === 'draft')
      assert.ok(late.length > 0, 'a cycle later there is a draft')
      const open = (await invoicesOf(id)).find((invoice) => invoice.status === 'open')
      const payment_method = await addCard(customer, 'pm_card_visa')
      await sdk.invoices.pay(open?.id ?? '', { payment_method })
      assert.equal((await subscriptionOf(id)).status, 'unpaid')
    },
  },
  {
    title: 'A deleted customer is remembered, and one that never was is missing',
    source: 'api/customers/retrieve: "deleted"; error-codes, resource_missing',
    run: async ({ sdk, addCustomer, openStripe }) => {
      const id = await addCustomer()
      assert.equal((await findSubscriptions(openStripe(), id)).length, 0)
      await sdk.customers.del(id)
      assert.equal(await findSubscriptions(openStripe(), id), 'deleted')
      assert.equal(await hasCustomer(openStripe(), id), true)
      assert.equal(await hasCustomer(openStripe(), 'cus_MeridianHasNone'), false)
      assert.equal(await findSubscriptions(openStripe(), 'cus_MeridianHasNone'), 'missing')
      const missing = sdk.subscriptions.retrieve('sub_MeridianHasNone')
      await assert.rejects(missing, { statusCode: 404, code: 'resource_missing' })
    },
  },
  {
    title: 'Our checkout is accepted, sells in flexible billing mode, and can be closed',
    source: 'SDK: Checkout.SessionCreateParams.subscription_data.billing_mode',
    run: async ({ sdk, prices, openStripe }) => {
      // Checkout compares with the real time, so its customer has no clock.
      const { id: customerId } = await sdk.customers.create({})
      try {
        const { url } = await openCheckout(openStripe(), {
          userId: 'sandbox',
          customerId,
          price: prices.pro,
          planId: 'pro',
          currency: undefined,
          trialDays: 14,
          tax: 'off',
          embedded: false,
          pages: { done: 'https://example.com/done', canceled: 'https://example.com/canceled' },
        })
        assert.match(url ?? '', /^https?:/)
        assert.equal(await closeCheckouts(openStripe(), customerId), true)
        const { data } = await sdk.checkout.sessions.list({ customer: customerId })
        assert.deepEqual(
          data.map(({ status }) => status),
          ['expired'],
        )
      } finally {
        await sdk.customers.del(customerId)
      }
    },
  },
]

/** Pays the first month; the next payment fails. */
async function failRenewal({ sdk, prices, subscribe, addCard, clock, invoicesOf }: Bench) {
  const subscribed = await subscribe([prices.pro])
  const card = await addCard(subscribed.customer, 'pm_card_chargeCustomerFail')
  await sdk.subscriptions.update(subscribed.id, { default_payment_method: card })
  await clock.passTo(subscribed.end + 2 * HOUR)
  const [, renewal] = await invoicesOf(subscribed.id)
  assert.deepEqual([renewal?.status, renewal?.amount_remaining], ['open', PRO])
  return subscribed
}

/** Lets the attempts to collect fail, and one cycle more pass. Smart Retries take up to two months. */
async function endDunning(
  { clock, subscriptionOf }: Bench,
  id: string,
): Promise<Stripe.Subscription.Status> {
  for (let months = 0; months < 4; months += 1) {
    await clock.pass(31 * DAY)
    const { status } = await subscriptionOf(id)
    if (status === 'canceled') return status
    if (status !== 'unpaid') continue
    await clock.pass(31 * DAY)
    return (await subscriptionOf(id)).status
  }
  return (await subscriptionOf(id)).status
}
