import type { Plan, Plans } from '../config/plans.ts'
import type { Interval } from '../contract/billing/price-schemas.ts'
import { ApiError, fieldError } from '../parts/errors.ts'

/** Maps our plans to their prices at Stripe, and back. */
export type PlanPrices = ReturnType<typeof createPlanPrices>

/** What a Stripe price sells. */
export interface Offer {
  readonly plan: Plan
  readonly interval: Interval
}

const SUFFIX: Readonly<Record<Interval, string>> = { month: '', year: '_YEARLY' }
const INTERVALS = ['month', 'year'] as const

/**
 * `prices` has the Stripe prices of each plan, the current one first. Its keys are the ids of the plans
 * in capitals with `_` for `-`, with `_YEARLY` at the end for prices of a year.
 */
export function createPlanPrices(
  plans: Plans,
  prices: Readonly<Record<string, readonly string[]>>,
) {
  const pricesOf = ({ plan, interval }: Offer) =>
    prices[plan.id.toUpperCase().replaceAll('-', '_') + SUFFIX[interval]] ?? []
  const paid = plans.list.filter(({ price }) => price > 0)
  const offers = paid.flatMap((plan) => INTERVALS.map((interval) => ({ plan, interval })))
  const byPrice = new Map(offers.flatMap((offer) => pricesOf(offer).map((id) => [id, offer])))
  const priceOf = (plan: Plan, interval: Interval = 'month') =>
    plan.price > 0 ? pricesOf({ plan, interval })[0] : undefined
  const soldAs = (plan: Plan) =>
    INTERVALS.flatMap((interval) => {
      const id = priceOf(plan, interval)
      return id === undefined ? [] : { interval, id }
    })
  return {
    /** All prices at which plans are, or were, sold. */
    all: [...byPrice.keys()],
    /** The price at which the plan is sold; undefined if it is not for sale. */
    priceOf,
    /** Whether the service sells plans. Otherwise pages show limits, and no prices that nobody can pay. */
    isAnySold: paid.some((plan) => soldAs(plan).length > 0),
    /** The prices at which the plan is sold. */
    soldAs,
    /** Returns the plan and interval that are, or were, sold at the price. */
    offerOf: (price: string): Offer | undefined => byPrice.get(price),
    /**
     * Whether subscribers may pay for requests over the cap: from the price of `pro` up, and by the
     * month, as requests over the cap are counted and charged by the month.
     */
    allowsOverages: ({ plan: { price }, interval }: Offer) =>
      interval === 'month' && price > 0 && price >= (plans.find('pro')?.price ?? 0),
  }
}

/** Throws BAD_REQUEST if the plan does not exist or is free. */
export function getPaidPlan(plans: Plans, id: string): Plan {
  const plan = plans.find(id)
  if (plan === undefined) {
    const ids = plans.list.map((one) => one.id).join(', ')
    throw fieldError('planId', `this plan does not exist; there are ${ids}`)
  }
  if (plan.price > 0) return plan
  throw fieldError(
    'planId',
    `the plan ${plan.id} is free; to return to it, cancel the subscription`,
  )
}

/** Throws BAD_REQUEST if the plan is not for sale by this interval. */
export function getPrice(prices: PlanPrices, plan: Plan, interval: Interval): string {
  const price = prices.priceOf(plan, interval)
  if (price !== undefined) return price
  throw new ApiError(
    'BAD_REQUEST',
    prices.soldAs(plan).length === 0
      ? `planId: the plan ${plan.id} is not for sale`
      : `interval: the plan ${plan.id} is not sold by the ${interval}`,
  )
}
