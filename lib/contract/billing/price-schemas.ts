import * as v from 'valibot'
import { count, strictObject, Timestamp, text } from '../common.ts'

export const Amount = v.pipe(
  v.number(),
  v.integer(),
  v.description('In the smallest unit of the currency, such as cents'),
)
export const Currency = text('ISO 4217, lower case')

/** How often a subscription is paid. */
export const Interval = v.picklist(['month', 'year'])
export type Interval = v.InferOutput<typeof Interval>

const Price = v.strictObject({
  id: text('The id at Stripe'),
  interval: v.pipe(Interval, v.description('How often it is paid')),
  currency: Currency,
  amount: Amount,
  currencies: v.pipe(
    v.array(v.strictObject({ currency: Currency, amount: Amount })),
    v.description('What it costs in other currencies'),
  ),
})

export const PlanPrices = strictObject('What a plan costs, and what the list of plans leaves out', {
  planId: text('The id of the plan'),
  requestsPerMinute: count('Of one key'),
  currency: v.optional(v.pipe(Currency, v.description('The currency of the price of the plan'))),
  trialDays: v.optional(count('Days before the first payment, once')),
  prices: v.pipe(
    v.array(Price),
    v.description('As Stripe has them; empty if it has none, or has not been asked yet'),
  ),
})
export type PlanPrices = v.InferOutput<typeof PlanPrices>

export const examplePrices = {
  planId: 'pro',
  requestsPerMinute: 600,
  prices: [
    {
      id: 'price_example',
      interval: 'month',
      currency: 'usd',
      amount: 2900,
      currencies: [{ currency: 'eur', amount: 2700 }],
    },
  ],
} as const satisfies PlanPrices

const Paid = v.pipe(Interval, v.description('How often it is paid'))

export const Terms = strictObject('How the subscription is paid', {
  interval: Paid,
  currency: v.nullable(
    v.pipe(Currency, v.description('ISO 4217, lower case; null if not known yet')),
  ),
  amount: v.pipe(
    v.nullable(Amount),
    v.description('Of each payment, before discounts, tax and overages; null if not known yet'),
  ),
  trialEndsAt: v.pipe(
    v.nullable(Timestamp),
    v.description('When the first payment is due; null if there is no trial now'),
  ),
  cancelAt: v.pipe(
    v.nullable(Timestamp),
    v.description('When it ends, perhaps after further payments; null if it is not canceled'),
  ),
  lapsedChange: v.optional(
    v.pipe(
      v.strictObject({ planId: text('The plan that was wanted'), interval: Paid }),
      v.description('A change that was not made: its payment was not confirmed in time'),
    ),
  ),
})
export type Terms = v.InferOutput<typeof Terms>

export const exampleTerms = {
  interval: 'month',
  currency: 'usd',
  amount: 2900,
  trialEndsAt: null,
  cancelAt: null,
} as const satisfies Terms
