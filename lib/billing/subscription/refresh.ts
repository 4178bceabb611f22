import type { Billing } from '../billing.ts'
import { findCustomer } from './customers.ts'
import { auditSync, sync } from './sync.ts'

/**
 * Reads the user's subscription from Stripe without waiting for an event. Does nothing if the user has no
 * customer at Stripe, or had a refresh in the last three seconds.
 */
export async function refreshSubscription(
  billing: Billing,
  userId: string,
  now: number,
): Promise<void> {
  if (!billing.isConfigured || (await findCustomer(billing.db, userId)) === null) return
  if (!billing.refreshes.begin(userId, now)) return
  const stripe = billing.openStripe()
  await billing.enqueue(userId, () =>
    sync(billing, stripe, userId, (result) => auditSync(billing, userId, result)),
  )
}
