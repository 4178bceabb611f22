import { ApiError } from '../errors.ts'
import type { Plan, Plans } from '../plans.ts'
import type { PlanPrices } from './plan-prices.ts'

/** Throws BAD_REQUEST for a plan that does not exist, or that costs nothing. */
export function getPaidPlan(plans: Plans, id: string): Plan {
  const plan = plans.find(id)
  if (plan === undefined) throw new ApiError('BAD_REQUEST', 'planId: there is no such plan')
  if (plan.price > 0) return plan
  throw new ApiError(
    'BAD_REQUEST',
    `planId: the plan ${plan.id} costs nothing; to go back to it, cancel the subscription`,
  )
}

/** Throws BAD_REQUEST for a plan without a price at the payment processor. */
export function getPrice(prices: PlanPrices, plan: Plan): string {
  const price = prices.priceOf(plan)
  if (price !== undefined) return price
  throw new ApiError('BAD_REQUEST', `planId: the plan ${plan.id} is not for sale`)
}
