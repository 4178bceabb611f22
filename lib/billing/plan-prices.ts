import type { Plan, Plans } from '../plans.ts'

/** Which price of the payment processor sells which plan. */
export interface PlanPrices {
  /** The price at which the plan is sold; undefined: it is not for sale. */
  priceOf(plan: Plan): string | undefined
  /** The plan of a price, also of one that is no longer sold. */
  planOf(price: string): Plan | undefined
}

/** `prices` by the id of the plan in capitals with `_` for `-`, the one that is sold first. */
export function createPlanPrices(
  plans: Plans,
  prices: Readonly<Record<string, readonly string[]>>,
): PlanPrices {
  const pricesOf = (plan: Plan) => prices[plan.id.toUpperCase().replaceAll('-', '_')] ?? []
  const paid = plans.list.filter(({ price }) => price > 0)
  const byPrice = new Map(paid.flatMap((plan) => pricesOf(plan).map((price) => [price, plan])))
  return {
    priceOf: (plan) => (plan.price > 0 ? pricesOf(plan)[0] : undefined),
    planOf: (price) => byPrice.get(price),
  }
}

/** Whether requests over the cap may be paid for: from the plan `pro` on, by price. */
export function allowsOverages(plan: Plan, plans: Plans): boolean {
  const least = plans.find('pro')?.price ?? 0
  return plan.price > 0 && plan.price >= least
}
