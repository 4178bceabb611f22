import type { Plan } from '../../config/plans.ts'

/** The difference between a plan and the next cheaper one. */
export interface PlanStep {
  /** The id of the dearer plan. */
  readonly id: string
  readonly price: number
  readonly requests: number
  /** The requests that the cheaper plan includes: the step's own come after these. */
  readonly above: number
}

type Rank = Pick<Plan, 'price' | 'monthlyCap'>

/** The steps from a plan up to a dearer one, the cheapest first; null: from no plan at all. */
export function stepsUp(plans: Iterable<Plan>, from: Plan | null, to: Plan): PlanStep[] {
  const low = from ?? { price: 0, monthlyCap: 0 }
  const between = [...plans]
    .filter((plan) => isBelow(low, plan) && isBelow(plan, to))
    .sort((a, b) => a.price - b.price || a.monthlyCap - b.monthlyCap)
  let last: Rank = low
  return [...between, to].map((plan) => {
    const { price, monthlyCap } = last
    last = plan
    return {
      id: plan.id,
      price: plan.price - price,
      requests: plan.monthlyCap - monthlyCap,
      above: monthlyCap,
    }
  })
}

function isBelow(one: Rank, other: Rank): boolean {
  return one.price < other.price && one.monthlyCap < other.monthlyCap
}
