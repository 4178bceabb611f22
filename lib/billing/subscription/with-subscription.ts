import { ApiError } from '../../parts/errors.ts'
import type { Billing } from '../billing.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { findSubscription, hasAccess, type SubscriptionRow } from './subscriptions.ts'
import { type SyncResult, sync } from './sync.ts'

type Work<Result> = (
  stripe: Stripe,
  subscription: SubscriptionRow,
  result: SyncResult,
) => Promise<Result>

/**
 * Runs `work` on the user's subscription as it is at Stripe now. Throws NO_ACTIVE_SUBSCRIPTION if no
 * subscription gives access or, with `requireAny`, if there is none. If our database has none, it does not ask
 * Stripe.
 */
export async function withSubscription<Result>(
  billing: Billing,
  userId: string,
  work: Work<Result>,
  require = requireActive,
): Promise<Result> {
  require(await findSubscription(billing.db, userId))
  const stripe = billing.openStripe()
  return billing.enqueue(userId, async () => {
    const result = await sync(billing, stripe, userId)
    return work(stripe, require(result.after), result)
  })
}

/** Throws NO_ACTIVE_SUBSCRIPTION unless the subscription gives access. */
export function requireActive(row: SubscriptionRow | null): SubscriptionRow {
  return requireAny(hasAccess(row) ? row : null)
}

/** Also returns a subscription that gives no access until it is paid. */
export function requireAny(row: SubscriptionRow | null): SubscriptionRow {
  if (row !== null) return row
  throw new ApiError('NO_ACTIVE_SUBSCRIPTION', 'There is no active subscription')
}
