import type Stripe from 'stripe'
import { idOf } from './stripe-calls.ts'

/* Our metadata of a subscription. Times are in seconds since 1970. */

/** The id of our user. */
export const USER_FIELD = 'meridian_user'
/** `on` or `off`: whether the user pays for requests over the cap. */
export const OVERAGES_FIELD = 'meridian_overages'
/** See `ChargedFrom`. */
export const CHARGED_FROM_FIELD = 'meridian_charged_from'
/** See `CarriedRequests`. */
export const CARRIED_REQUESTS_FIELD = 'meridian_carried_requests'
export const CARRIED_UNTIL_FIELD = 'meridian_carried_until'

/** A subscription at Stripe. Times are epoch milliseconds. */
export type StripeSubscription = ReturnType<typeof toStripeSubscription>

export function toStripeSubscription(subscription: Stripe.Subscription) {
  const { id, customer, metadata, status, created, cancel_at, items } = subscription
  const { currency, trial_end, pending_update } = subscription
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
    wantsOverages: metadata[OVERAGES_FIELD] === 'on',
    /** From when each step between plans is charged, as text. */
    chargedFrom: metadata[CHARGED_FROM_FIELD] ?? '',
    ...carriedRequestsOf(metadata),
    /** The prices after the pending change, which the customer must confirm; empty if there is none. */
    pendingPrices: (pending_update?.subscription_items ?? []).map(({ price }) => price.id),
    items: items.data.map((item) => ({
      id: item.id,
      priceId: item.price.id,
      periodStart: item.current_period_start * 1000,
      periodEnd: item.current_period_end * 1000,
    })),
  }
}

/** Both are null if one of them is missing. */
function carriedRequestsOf(metadata: Stripe.Metadata) {
  const carriedRequests = numberOf(metadata[CARRIED_REQUESTS_FIELD])
  const until = numberOf(metadata[CARRIED_UNTIL_FIELD])
  return carriedRequests === null || until === null
    ? { carriedRequests: null, carriedUntil: null }
    : { carriedRequests, carriedUntil: until * 1000 }
}

/** null unless the text is a whole number from 0. */
function numberOf(text = ''): number | null {
  return /^\d{1,15}$/.test(text) ? Number(text) : null
}

function userOf(customer: Stripe.Subscription['customer']): string | null {
  if (typeof customer === 'string' || customer.deleted) return null
  return customer.metadata[USER_FIELD] || null
}
