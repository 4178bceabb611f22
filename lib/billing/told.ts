import type Stripe from 'stripe'
import { givesAccess } from '../entitlement.ts'
import type { PlanPrices } from './plan-prices.ts'
import type { SubscriptionRow } from './subscriptions.ts'

/** Metadata of a subscription: who it is for, and whether requests over the cap are paid for. */
export const USER_FIELD = 'meridian_user'
export const OVERAGES_FIELD = 'meridian_overages'

export interface Catalogue {
  readonly prices: PlanPrices
  readonly overagePrice: string | undefined
  /** Whether requests over the cap of the plan may be paid for. */
  readonly allowsOverages: (planId: string) => boolean
}

const ENDED: readonly string[] = ['canceled', 'incomplete_expired']

/**
 * The subscription that counts among those of a customer: one that gives access before one that does
 * not, the youngest first. null: there is none of a plan of ours that has not ended.
 */
export function toSubscriptionRow(
  userId: string,
  told: readonly Stripe.Subscription[],
  catalogue: Catalogue,
): SubscriptionRow | null {
  const rows = told
    .filter(({ status }) => !ENDED.includes(status))
    .toSorted((a, b) => b.created - a.created)
    .map((subscription) => toRow(userId, subscription, catalogue))
    .filter((row) => row !== null)
  return rows.find(({ status }) => givesAccess(status)) ?? rows[0] ?? null
}

/** Whether a subscription that we sold gives access, but its price is that of no plan any more. */
export function hasUnknownPlan(
  userId: string,
  told: readonly Stripe.Subscription[],
  catalogue: Catalogue,
): boolean {
  return told.some(
    (subscription) =>
      subscription.metadata[USER_FIELD] === userId &&
      givesAccess(subscription.status) &&
      toRow(userId, subscription, catalogue) === null,
  )
}

function toRow(
  userId: string,
  subscription: Stripe.Subscription,
  { prices, overagePrice, allowsOverages }: Catalogue,
): SubscriptionRow | null {
  const items = subscription.items.data
  const item = items.find(({ price }) => prices.planOf(price.id) !== undefined)
  const plan = item && prices.planOf(item.price.id)
  if (item === undefined || plan === undefined) return null
  const overageItem = items.find(({ price }) => price.id === overagePrice)
  const wantsOverages = subscription.metadata[OVERAGES_FIELD] === 'on'
  return {
    userId,
    id: subscription.id,
    itemId: item.id,
    plan: plan.id,
    status: subscription.status,
    periodStart: item.current_period_start * 1000,
    periodEnd: item.current_period_end * 1000,
    cancelAt: toCancelAt(subscription, item),
    overages: wantsOverages && overageItem !== undefined && allowsOverages(plan.id),
    overageItemId: overageItem?.id ?? null,
  }
}

/** Stripe tells a cancellation by either of two fields. */
function toCancelAt(
  { cancel_at, cancel_at_period_end }: Stripe.Subscription,
  { current_period_end }: Stripe.SubscriptionItem,
): number | null {
  if (cancel_at !== null) return cancel_at * 1000
  return cancel_at_period_end ? current_period_end * 1000 : null
}
