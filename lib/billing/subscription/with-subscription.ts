import { givesAccess } from '../../config/entitlement.ts'
import { ApiError } from '../../errors.ts'
import type { Billing } from '../billing.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
import { findSubscription, type SubscriptionRow } from './subscriptions.ts'
import { sync } from './sync.ts'

/**
 * Runs `work` on the user's subscription as it is at Stripe now. Throws NO_ACTIVE_SUBSCRIPTION if no
 * subscription gives access. If our database has none, it does not ask Stripe.
 */
export async function withSubscription<Result>(
  billing: Billing,
  userId: string,
  work: (stripe: StripeGateway, subscription: SubscriptionRow) => Promise<Result>,
): Promise<Result> {
  requireActive(await findSubscription(billing.db, userId))
  const stripe = billing.openStripe()
  return billing.enqueue(userId, async () => {
    const { after } = await sync(billing, stripe, userId)
    return work(stripe, requireActive(after))
  })
}

/** Throws NO_ACTIVE_SUBSCRIPTION unless the subscription gives access. */
export function requireActive(row: SubscriptionRow | null): SubscriptionRow {
  if (row !== null && givesAccess(row.status)) return row
  throw new ApiError('NO_ACTIVE_SUBSCRIPTION', 'There is no active subscription')
}
