import { type ChosenCap, type OveragePrice, type OverageTerms, toTerms } from './overage-terms.ts'
import type { Plan, Plans } from './plans.ts'

/** The paid period of a subscription in epoch milliseconds; `end` is exclusive. */
export interface PaidPeriod {
  readonly start: number
  readonly end: number
  /** On which terms requests above the cap are answered in full; null: they are not. */
  readonly overages: OverageTerms | null
}

/** What a user may do. */
export interface Entitlement {
  readonly plan: Plan
  /** null: no paid subscription; requests are counted by calendar month. */
  readonly paid: PaidPeriod | null
}

export interface StoredEntitlement {
  /** Id of the plan that applies without a subscription. */
  readonly givenPlan: string
  readonly subscribed: {
    readonly plan: string
    readonly status: string
    readonly periodStart: number
    readonly periodEnd: number
    readonly overages: boolean
  } | null
  /** null if it is not known yet: without it, nothing is charged. */
  readonly overagePrice: OveragePrice | null
  /** null: the default. */
  readonly spendingCap: ChosenCap | null
}

/** The statuses of Stripe with which a subscription grants its plan. */
export const ACCESS_STATUSES: readonly string[] = ['active', 'trialing', 'past_due']

export function givesAccess(status: string): boolean {
  return ACCESS_STATUSES.includes(status)
}

/** The paid plan, else the given one; free if the plan is unknown. */
export function toEntitlement(
  { givenPlan, subscribed, overagePrice, spendingCap }: StoredEntitlement,
  plans: Plans,
): Entitlement {
  if (subscribed === null || !givesAccess(subscribed.status)) {
    return { plan: plans.ofUser(givenPlan), paid: null }
  }
  const plan = plans.ofUser(subscribed.plan)
  const { periodStart: start, periodEnd: end } = subscribed
  const hasTerms = subscribed.overages && overagePrice !== null
  const overages = hasTerms ? toTerms(plan, overagePrice, spendingCap) : null
  return { plan, paid: { start, end, overages } }
}
