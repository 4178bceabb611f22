import type { Interval } from '../contract/billing/price-schemas.ts'
import type { Plan, Plans } from './plans.ts'

/** The paid period of a subscription in epoch milliseconds; `end` is exclusive. */
export interface PaidPeriod {
  readonly start: number
  readonly end: number
  /** A year is metered by its months. */
  readonly interval: Interval
  /** Whether requests above the cap are answered in full, for a fee. */
  readonly overages: boolean
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
    readonly interval: Interval
    readonly overages: boolean
  } | null
}

/** The statuses of Stripe with which a subscription grants its plan. */
export const ACCESS_STATUSES: readonly string[] = ['active', 'trialing', 'past_due']

export function givesAccess(status: string): boolean {
  return ACCESS_STATUSES.includes(status)
}

/** The paid plan, else the given one; free if the plan no longer exists. */
export function toEntitlement(
  { givenPlan, subscribed }: StoredEntitlement,
  plans: Plans,
): Entitlement {
  if (subscribed === null || !givesAccess(subscribed.status)) {
    return { plan: plans.ofUser(givenPlan), paid: null }
  }
  const { plan, periodStart: start, periodEnd: end, interval, overages } = subscribed
  return { plan: plans.find(plan) ?? plans.free, paid: { start, end, interval, overages } }
}
