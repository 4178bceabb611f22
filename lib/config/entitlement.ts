import type { Plan, Plans } from './plans.ts'

/** The period that a subscription pays for, in epoch milliseconds; `end` is the first one after it. */
export interface PaidPeriod {
  readonly start: number
  readonly end: number
  /** Whether requests over the cap are answered in full, for a fee. */
  readonly overages: boolean
}

/** What a user may do. */
export interface Entitlement {
  readonly plan: Plan
  /** null: nothing is paid for, and requests are counted by calendar month. */
  readonly paid: PaidPeriod | null
}

export interface StoredEntitlement {
  /** Id of the plan that the user has without a subscription. */
  readonly givenPlan: string
  readonly subscribed: {
    readonly plan: string
    readonly status: string
    readonly periodStart: number
    readonly periodEnd: number
    readonly overages: boolean
  } | null
}

const WITH_ACCESS = ['active', 'trialing', 'past_due']

/** Whether a subscription of this status, as Stripe names it, gives what its plan promises. */
export function givesAccess(status: string): boolean {
  return WITH_ACCESS.includes(status)
}

/** The plan that is paid for, or else the one that was given. A plan that is gone is the free one. */
export function toEntitlement(
  { givenPlan, subscribed }: StoredEntitlement,
  plans: Plans,
): Entitlement {
  if (subscribed === null || !givesAccess(subscribed.status)) {
    return { plan: plans.ofUser(givenPlan), paid: null }
  }
  const { plan, periodStart: start, periodEnd: end, overages } = subscribed
  return { plan: plans.find(plan) ?? plans.free, paid: { start, end, overages } }
}
