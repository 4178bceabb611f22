import assert from 'node:assert/strict'
import { changePrice, previewPrice } from '../../../../lib/billing/stripe/price-changes.ts'
import { BIG, PRO, PRO_YEAR, STARTER } from '../catalogue.ts'
import { DAY } from '../sandbox.ts'
import { type Case, restOf, sumOf } from './case.ts'
import { toPlan, toYear } from './price-change.ts'

/** What a change of the price charges and credits. */
export const changes: readonly Case[] = [
  {
    title: 'A proration date later than now is accepted, and the credit begins there',
    source:
      'SDK: SubscriptionUpdateParams.proration_date; no source allows or forbids it: to be found out',
    run: async ({ prices, subscribe, clock, openStripe, invoicesOf }) => {
      const { start, end, ...subscribed } = await subscribe([prices.pro])
      await clock.pass(10 * DAY)
      const later = clock.now() + 5 * DAY
      const change = toPlan(subscribed, prices.starter, later)
      const expected = restOf(STARTER, { start, end }, later) - restOf(PRO, { start, end }, later)
      assert.equal(sumOf((await previewPrice(openStripe(), change)).lines), expected)
      assert.equal(await changePrice(openStripe(), change, 'keep'), null)
      const [, invoice] = await invoicesOf(subscribed.id)
      assert.equal(invoice?.total, expected)
    },
  },
  {
    title: 'A plan that is taken back before the credit begins costs what was credited',
    source: 'billing/subscriptions/billing-mode/compare: "the original amount previously debited"',
    run: async ({ prices, subscribe, clock, openStripe, invoicesOf }) => {
      const subscribed = await subscribe([prices.pro])
      await clock.pass(10 * DAY)
      const later = clock.now() + 5 * DAY
      await changePrice(openStripe(), toPlan(subscribed, prices.starter, later), 'keep')
      await clock.pass(DAY)
      await changePrice(openStripe(), toPlan(subscribed, prices.pro, later), 'keep')
      const [, credit, charge] = await invoicesOf(subscribed.id)
      assert.equal(charge?.total, -(credit?.total ?? 0))
    },
  },
  {
    title: 'A date before that of an earlier, later change credits each charge for its own time',
    source:
      'billing/subscriptions/billing-mode/compare: "the original amount previously debited"; whether Stripe accepts such a date is to be found out',
    run: async ({ prices, subscribe, clock, openStripe, invoicesOf }) => {
      const { start, end, ...subscribed } = await subscribe([prices.pro])
      await clock.pass(10 * DAY)
      const later = clock.now() + 5 * DAY
      await changePrice(openStripe(), toPlan(subscribed, prices.starter, later), 'keep')
      await clock.pass(DAY)
      const before = clock.now()
      const change = toPlan(subscribed, prices.big, before)
      const rest = (amount: number, at: number) => restOf(amount, { start, end }, at)
      const credit = rest(PRO, before) - rest(PRO, later) + rest(STARTER, later)
      const expected = rest(BIG, before) - credit
      const shown = sumOf((await previewPrice(openStripe(), change)).lines)
      await changePrice(openStripe(), change, 'keep')
      const [, , last] = await invoicesOf(subscribed.id)
      assert.equal(last?.total, shown)
      // Each line is rounded.
      assert.ok(Math.abs(shown - expected) <= 1, `${shown} instead of ${expected}`)
    },
  },
  {
    title: 'A change is charged as its preview shows, to the second',
    source: 'SDK: SubscriptionUpdateParams.proration_date: exactly the prorations of the preview',
    run: async ({ prices, subscribe, clock, openStripe, invoicesOf }) => {
      const { start, end, ...subscribed } = await subscribe([prices.pro])
      await clock.pass(10 * DAY + 12_345)
      const at = clock.now()
      const change = toPlan(subscribed, prices.big, at)
      const due = restOf(BIG, { start, end }, at) - restOf(PRO, { start, end }, at)
      assert.equal((await previewPrice(openStripe(), change)).amountDue, due)
      await changePrice(openStripe(), change, 'keep')
      const [, invoice] = await invoicesOf(subscribed.id)
      assert.deepEqual([invoice?.status, invoice?.amount_paid], ['paid', due])
    },
  },
  {
    title: 'A credit from before the last change counts each charge for its own time',
    source: 'billing/subscriptions/billing-mode/compare: "the original amount previously debited"',
    run: async ({ sdk, prices, subscribe, clock, invoicesOf }) => {
      const { start, end, id, item } = await subscribe([prices.starter])
      const change = (price: string, proration_date: number) =>
        sdk.subscriptions.update(id, {
          items: [{ id: item, price }],
          proration_behavior: 'always_invoice',
          proration_date,
        })
      await clock.pass(10 * DAY)
      const changed = clock.now()
      await change(prices.pro, changed)
      await clock.pass(10 * DAY)
      const back = start + 5 * DAY
      await change(prices.big, back)
      const rest = (amount: number, at: number) => restOf(amount, { start, end }, at)
      const credit = rest(STARTER, back) - rest(STARTER, changed) + rest(PRO, changed)
      const [, , last] = await invoicesOf(id)
      // Each line is rounded.
      assert.ok(Math.abs((last?.total ?? 0) - (rest(BIG, back) - credit)) <= 1)
    },
  },
  {
    title: 'Another interval alone does not move the billing cycle',
    source: 'billing/subscriptions/billing-mode/compare: flexible "never automatically" resets it',
    run: async ({ sdk, prices, subscribe, subscriptionOf, clock }) => {
      const { id, item, start } = await subscribe([prices.pro])
      await clock.pass(10 * DAY)
      const items = [{ id: item, price: prices.proYearly }]
      await sdk.subscriptions.update(id, { items, proration_behavior: 'always_invoice' })
      assert.equal((await subscriptionOf(id)).billing_cycle_anchor, start)
    },
  },
  {
    title: 'Our change of the interval begins a year now, and credits the rest of the month',
    source: 'SDK: SubscriptionUpdateParams.billing_cycle_anchor.type "now"',
    run: async ({ prices, subscribe, subscriptionOf, clock, openStripe, invoicesOf }) => {
      const { start, end, ...subscribed } = await subscribe([prices.pro])
      await clock.pass(10 * DAY)
      const now = clock.now()
      await changePrice(openStripe(), toYear(subscribed, prices.proYearly, now), 'keep')
      const { billing_cycle_anchor, items } = await subscriptionOf(subscribed.id)
      assert.equal(billing_cycle_anchor, now)
      assert.equal(items.data[0]?.current_period_start, now)
      const [, invoice] = await invoicesOf(subscribed.id)
      assert.equal(invoice?.amount_paid, PRO_YEAR - restOf(PRO, { start, end }, now))
    },
  },
  {
    title: 'A change in a trial has lines that cost nothing, and the trial goes on',
    source: 'billing/subscriptions/billing-mode/compare: "Free trial for 1 × …"',
    run: async ({ prices, subscribe, subscriptionOf, clock, openStripe }) => {
      const trial = await subscribe([prices.starter], { trial_period_days: 14 })
      await clock.pass(3 * DAY)
      const change = toPlan(trial, prices.pro, clock.now())
      const { amountDue, lines } = await previewPrice(openStripe(), change)
      assert.equal(amountDue, 0)
      assert.ok(lines.length > 0)
      assert.ok(lines.every(({ amount }) => amount === 0))
      await changePrice(openStripe(), change, 'keep')
      const { status, trial_end } = await subscriptionOf(trial.id)
      assert.deepEqual([status, trial_end], ['trialing', trial.end])
    },
  },
  {
    title: 'A second discount is added to the first, and both lower the renewal',
    source: 'SDK: SubscriptionUpdateParams.discounts; no source gives the order: to be found out',
    run: async ({ sdk, prices, subscribe, addCoupon, subscriptionOf, clock, invoicesOf }) => {
      const half = await addCoupon({ percent_off: 50, duration: 'forever' })
      const tenth = await addCoupon({ percent_off: 10, duration: 'once' })
      const promotion = { type: 'coupon', coupon: tenth } as const
      const { id: promotion_code } = await sdk.promotionCodes.create({ promotion })
      const { id, end } = await subscribe([prices.pro], { discounts: [{ coupon: half }] })
      const [first] = (await subscriptionOf(id)).discounts
      const discounts = [{ discount: String(first) }, { promotion_code }]
      await sdk.subscriptions.update(id, { discounts })
      assert.equal((await subscriptionOf(id)).discounts.length, 2)
      await clock.passTo(end + 2 * 3_600)
      const [, renewal] = await invoicesOf(id)
      assert.equal(renewal?.total, (PRO / 2) * 0.9)
    },
  },
]
