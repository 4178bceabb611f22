import { givesAccess } from '../../config/entitlement.ts'
import type { Billing } from '../billing.ts'
import type { StripeSubscription } from '../stripe/stripe-subscription.ts'
import type { SubscriptionRow } from './subscriptions.ts'

type Catalogue = Pick<Billing, 'prices' | 'overagePrice'>

const ENDED: readonly string[] = ['canceled', 'incomplete_expired']

/**
 * Chooses the customer's subscription that counts: the newest that gives access, or else the newest
 * that has not ended. Returns null if there is no live subscription to one of our plans.
 */
export function toSubscriptionRow(
  userId: string,
  subscriptions: readonly StripeSubscription[],
  catalogue: Catalogue,
): SubscriptionRow | null {
  const rows = subscriptions
    .filter(({ status }) => !ENDED.includes(status))
    .toSorted((a, b) => b.createdAt - a.createdAt)
    .map((subscription) => toRow(userId, subscription, catalogue))
    .filter((row) => row !== null)
  return rows.find(({ status }) => givesAccess(status)) ?? rows[0] ?? null
}

/** Whether a subscription that we sold gives access, but its price is not the price of a plan. */
export function hasUnknownPlan(
  userId: string,
  subscriptions: readonly StripeSubscription[],
  catalogue: Catalogue,
): boolean {
  return subscriptions.some(
    (subscription) =>
      subscription.userId === userId &&
      givesAccess(subscription.status) &&
      toRow(userId, subscription, catalogue) === null,
  )
}

function toRow(
  userId: string,
  { id, status, cancelAt, currency, trialEnd, wantsOverages, items }: StripeSubscription,
  { prices, overagePrice }: Catalogue,
): SubscriptionRow | null {
  const item = items.find(({ priceId }) => prices.offerOf(priceId) !== undefined)
  const offer = item && prices.offerOf(item.priceId)
  if (item === undefined || offer === undefined) return null
  const { plan, interval } = offer
  const overageItem = items.find(({ priceId }) => priceId === overagePrice)
  return {
    userId,
    id,
    itemId: item.id,
    plan: plan.id,
    status,
    periodStart: item.periodStart,
    periodEnd: item.periodEnd,
    cancelAt: cancelAt === 'period-end' ? item.periodEnd : cancelAt,
    overages: wantsOverages && overageItem !== undefined && prices.allowsOverages(offer),
    overageItemId: overageItem?.id ?? null,
    interval,
    priceId: item.priceId,
    currency,
    trialEnd: status === 'trialing' ? trialEnd : null,
  }
}
