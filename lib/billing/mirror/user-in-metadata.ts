import type { StripeSubscription } from '../stripe/stripe-subscription.ts'

/** The user that our metadata of a subscription names, or else that of the customer. */
export function findUserInMetadata(subscriptions: readonly StripeSubscription[]): string | null {
  const ids = subscriptions.map(({ userId }) => userId)
  const ofCustomer = subscriptions.map(({ userOfCustomer }) => userOfCustomer)
  return [...ids, ...ofCustomer].find((id) => id !== null) ?? null
}
