import * as v from 'valibot'
import { Count, count, flag, object, strictObject } from '../common.ts'
import { type Operation, ok } from '../operation.ts'
import { read, subscriptionErrors, write } from './billing-columns.ts'
import { Amount, Currency } from './price-schemas.ts'

const THRESHOLDS = ['near_cap', 'reach_cap', 'reach_spending_cap'] as const

export const SpendingCapBody = object('The most that requests over the cap may cost in a period', {
  spendingCap: v.pipe(
    Amount,
    v.minValue(0),
    v.maxValue(Number.MAX_SAFE_INTEGER),
    v.description('In the smallest unit of the currency, such as cents'),
  ),
})

export const Overages = strictObject('What requests over the monthly cap cost, in this period', {
  overagesEnabled: flag('Whether requests over the cap are allowed'),
  cap: count('Requests of this period that cost nothing more'),
  currency: Currency,
  unitPrice: v.pipe(
    v.string(),
    v.decimal(),
    v.description('The price of one request: a decimal, in the smallest unit of the currency'),
  ),
  spendingCap: v.pipe(
    Amount,
    v.description('The most they may cost in a period, in the smallest unit'),
  ),
  largestSpendingCap: v.pipe(Amount, v.description('The largest cap that may be set')),
  units: count('Requests over the cap that are charged for'),
  maxUnits: v.pipe(
    v.nullable(Count),
    v.description('How many of them the spending cap pays for; null if they are free'),
  ),
  amount: v.pipe(
    Amount,
    v.description('What Stripe will charge for them, before tax and discounts'),
  ),
  thresholds: v.pipe(
    v.array(v.picklist(THRESHOLDS)),
    v.description('80 % and 100 % of the monthly cap and the spending cap, as far as reached'),
  ),
})
export type Overages = v.InferOutput<typeof Overages>

const example = {
  overagesEnabled: true,
  cap: 100_000,
  currency: 'usd',
  unitPrice: '0.1',
  spendingCap: 8700,
  largestSpendingCap: 290_000,
  units: 12_345,
  maxUnits: 87_000,
  amount: 1235,
  thresholds: ['near_cap', 'reach_cap'],
} satisfies Overages

const status = ok('What requests over the cap cost', Overages, example)

export const overageOperations = [
  {
    id: 'getOverages',
    method: 'get',
    path: '/v1/billing/overages',
    ...read,
    summary: 'Price, spending cap, units and money of requests over the cap; Pro and up',
    replies: status,
    errors: ['PLAN_REQUIRED', ...subscriptionErrors],
  },
  {
    id: 'setSpendingCap',
    method: 'put',
    path: '/v1/billing/overages',
    ...write,
    summary: 'Set the most that requests over the cap may cost in a period',
    description:
      'Over it, look-ups are reduced again and cost nothing. The default is three times the price of the plan, the largest cap a hundred times.',
    body: { schema: SpendingCapBody, example: { spendingCap: 10_000 } },
    replies: status,
    errors: ['PLAN_REQUIRED', ...subscriptionErrors],
  },
] as const satisfies readonly Operation[]
