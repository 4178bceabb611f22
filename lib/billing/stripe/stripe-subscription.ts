import type Stripe from 'stripe'
import type { Interval } from '../../contract/billing/price-schemas.ts'
import { idOf } from './stripe-calls.ts'

/* Our metadata of a subscription. */

/** The id of our user. */
export const USER_FIELD = 'meridian_user'
/** The id of the plan, for when its price is no longer in the settings. */
export const PLAN_FIELD = 'meridian_plan'
/** `on` or `off`: whether the user pays for requests over the cap. */
export const OVERAGES_FIELD = 'meridian_overages'
/** See `ChangeTime`. */
export const CHARGED_FROM_FIELD = 'meridian_charged_from'

/** A subscription at Stripe. Times are epoch milliseconds. */
export type StripeSubscription = ReturnType<typeof toStripeSubscription>

export function toStripeSubscription(subscription: Stripe.Subscription) {
  const { id, customer, metadata, status, created, cancel_at, items } = subscription
  const { currency, trial_end, pending_update, default_payment_method } = subscription
  const atPeriodEnd = subscription.cancel_at_period_end ? ('period-end' as const) : null
  return {
    id,
    customerId: idOf(customer),
    /** The user that our metadata of the subscription names; null if none. */
    userId: metadata[USER_FIELD] || null,
    /** The user that our metadata of the customer names; null if none, or if Stripe sent only its id. */
    userOfCustomer: userOf(customer),
    /** In Stripe's words, such as `past_due`. */
    status,
    createdAt: created * 1000,
    /** null if the subscription is not canceled. A cancellation sets one field or both. */
    cancelAt: cancel_at === null ? atPeriodEnd : cancel_at * 1000,
    currency,
    /** When its trial ends or ended; null: it never had one. */
    trialEnd: trial_end === null ? null : trial_end * 1000,
    /** Whether it has a payment method of its own, which pays instead of the customer's. */
    hasOwnMethod: default_payment_method !== null,
    /** The plan that our metadata of the subscription names; null if none. */
    namedPlan: metadata[PLAN_FIELD] || null,
    wantsOverages: metadata[OVERAGES_FIELD] === 'on',
    /** The plan that is paid, and until when, as text. */
    chargedFrom: metadata[CHARGED_FROM_FIELD] ?? '',
    /** The prices after the pending change, which the customer must confirm; empty if there is none. */
    pendingPrices: (pending_update?.subscription_items ?? []).map(({ price }) => price.id),
    items: items.data.map((item) => ({
      id: item.id,
      priceId: item.price.id,
      interval: intervalOf(item.price),
      isMetered: item.price.recurring?.usage_type === 'metered',
      periodStart: item.current_period_start * 1000,
      periodEnd: item.current_period_end * 1000,
    })),
  }
}

/** Of a period that is longer than a month, as of a year, the requests are counted by the month. */
function intervalOf({ recurring }: Stripe.Price): Interval {
  return recurring?.interval === 'month' && recurring.interval_count === 1 ? 'month' : 'year'
}

function userOf(customer: Stripe.Subscription['customer']): string | null {
  if (typeof customer === 'string' || customer.deleted) return null
  return customer.metadata[USER_FIELD] || null
}
