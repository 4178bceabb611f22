import type Stripe from 'stripe'

/* The fields of our metadata at Stripe. */

/** The id of our user: of subscriptions, checkouts and customers. */
export const USER_FIELD = 'meridian_user'
/** The id of a subscription's plan, for when its price is no longer in the settings. */
export const PLAN_FIELD = 'meridian_plan'
/** `on` or `off`: whether the user pays for requests over the cap. */
export const OVERAGES_FIELD = 'meridian_overages'
/** The plan that is paid, and until when, as text: see `ChangeTime`. */
export const CHARGED_FROM_FIELD = 'meridian_charged_from'

/** The user that the metadata names; null if none. */
export function userOf({ metadata }: { readonly metadata: Stripe.Metadata }): string | null {
  return metadata[USER_FIELD] || null
}
