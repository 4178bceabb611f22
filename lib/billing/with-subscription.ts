import { givesAccess } from '../entitlement.ts'
import { ApiError } from '../errors.ts'
import type { Billing } from './billing.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { findSubscription, type SubscriptionRow } from './subscriptions.ts'

/**
 * Does `work` on the subscription of the user, as the payment processor tells it now. Throws
 * NO_ACTIVE_SUBSCRIPTION where there is none that gives access: without asking where we know of none.
 */
export async function withSubscription<Result>(
  billing: Billing,
  userId: string,
  work: (calls: StripeCalls, subscription: SubscriptionRow) => Promise<Result>,
): Promise<Result> {
  requireActive(await findSubscription(billing.db, userId))
  const calls = billing.begin()
  return billing.inTurn(userId, async () => {
    const { after } = await billing.sync(calls, userId)
    return work(calls, requireActive(after))
  })
}

/** Throws NO_ACTIVE_SUBSCRIPTION unless it gives access. */
export function requireActive(row: SubscriptionRow | null): SubscriptionRow {
  if (row !== null && givesAccess(row.status)) return row
  throw new ApiError('NO_ACTIVE_SUBSCRIPTION', 'There is no active subscription')
}
