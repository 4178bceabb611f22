import { type CapShare, toCapShares } from '../contract/account/cap-shares.ts'
import type { Interval } from '../contract/billing/price-schemas.ts'
import {
  type ChosenCap,
  type OverageTerms,
  priceIn,
  type StoredOveragePrice,
  toOverageTerms,
} from './overage-terms.ts'
import type { SubscriptionPeriod } from './period.ts'
import type { Plan, Plans } from './plans.ts'

/** The paid period of a subscription, and how requests count in it. */
export interface PaidPeriod extends SubscriptionPeriod {
  /** The terms on which requests above the cap are answered in full; null: they are not. */
  readonly overages: OverageTerms | null
}

/** What a user may do. */
export interface Entitlement {
  readonly plan: Plan
  /** null: no paid subscription; requests are counted by calendar month. */
  readonly paid: PaidPeriod | null
  /** The shares of the cap that are announced, in ascending order. */
  readonly capShares: readonly CapShare[]
}

export interface StoredEntitlement {
  /** Id of the plan that applies without a subscription. */
  readonly assignedPlan: string
  readonly subscribed: {
    readonly plan: string
    readonly status: string
    readonly periodStart: number
    readonly periodEnd: number
    readonly interval: Interval
    readonly overages: boolean
    /** ISO 4217, lower case; null: not known. */
    readonly currency: string | null
  } | null
  /** null if it is not known yet: then nothing is charged. */
  readonly overagePrice: StoredOveragePrice | null
  /** null: the default. */
  readonly spendingCap: ChosenCap | null
  /** At which shares of the cap mails are sent: JSON; null: the default. */
  readonly usageMails: string | null
}

/** The statuses of Stripe with which a subscription grants its plan. */
export const ACCESS_STATUSES: readonly string[] = ['active', 'trialing', 'past_due']

export function givesAccess(status: string): boolean {
  return ACCESS_STATUSES.includes(status)
}

/** The paid plan, else the assigned one; free if the plan is unknown. */
export function planInEffect(
  { assignedPlan, subscribed }: Pick<StoredEntitlement, 'assignedPlan' | 'subscribed'>,
  plans: Plans,
): Plan {
  const isPaid = subscribed !== null && givesAccess(subscribed.status)
  return plans.ofUser(isPaid ? subscribed.plan : assignedPlan)
}

export function toEntitlement(stored: StoredEntitlement, plans: Plans): Entitlement {
  const { subscribed, overagePrice, spendingCap } = stored
  const plan = planInEffect(stored, plans)
  const capShares = toCapShares(stored.usageMails)
  if (subscribed === null || !givesAccess(subscribed.status)) return { plan, paid: null, capShares }
  const { periodStart: start, periodEnd: end, interval } = subscribed
  // Who owes a renewal gets no further credit.
  const hasTerms = subscribed.overages && subscribed.status !== 'past_due' && overagePrice !== null
  const overages = hasTerms
    ? toOverageTerms(plan, priceIn(overagePrice, subscribed.currency), spendingCap)
    : null
  return { plan, paid: { start, end, interval, overages }, capShares }
}
