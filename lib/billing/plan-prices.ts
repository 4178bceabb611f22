import type { Plan, Plans } from '../config/plans.ts'
import { ApiError } from '../errors.ts'

/** Maps our plans to their prices at Stripe, and back. */
export type PlanPrices = ReturnType<typeof createPlanPrices>

/**
 * `prices` has the Stripe prices of each plan, the current one first. Its keys are the ids of the plans
 * in capitals with `_` for `-`.
 */
export function createPlanPrices(
  plans: Plans,
  prices: Readonly<Record<string, readonly string[]>>,
) {
  const pricesOf = (plan: Plan) => prices[plan.id.toUpperCase().replaceAll('-', '_')] ?? []
  const paid = plans.list.filter(({ price }) => price > 0)
  const byPrice = new Map(paid.flatMap((plan) => pricesOf(plan).map((price) => [price, plan])))
  return {
    /** The price at which the plan is sold; undefined if the plan is not for sale. */
    priceOf: (plan: Plan) => (plan.price > 0 ? pricesOf(plan)[0] : undefined),
    /** Returns the plan that is, or was, sold at the price. */
    planOf: (price: string) => byPrice.get(price),
    /** Whether users of the plan may pay for requests over the cap: from the price of `pro` up. */
    allowsOverages: (planId: string) => {
      const { price } = plans.ofUser(planId)
      return price > 0 && price >= (plans.find('pro')?.price ?? 0)
    },
  }
}

/** Throws BAD_REQUEST if the plan does not exist or is free. */
export function getPaidPlan(plans: Plans, id: string): Plan {
  const plan = plans.find(id)
  if (plan === undefined) throw new ApiError('BAD_REQUEST', 'planId: this plan does not exist')
  if (plan.price > 0) return plan
  throw new ApiError(
    'BAD_REQUEST',
    `planId: the plan ${plan.id} is free; to return to it, cancel the subscription`,
  )
}

/** Throws BAD_REQUEST if the plan is not for sale. */
export function getPrice(prices: PlanPrices, plan: Plan): string {
  const price = prices.priceOf(plan)
  if (price !== undefined) return price
  throw new ApiError('BAD_REQUEST', `planId: the plan ${plan.id} is not for sale`)
}
