import type { ActiveDiscount, Discount } from '../../contract/billing/billing-schemas.ts'
import type { Actor, Billing } from '../billing.ts'
import { ifMissing } from '../stripe/stripe-refusal.ts'
import { findCustomer } from '../subscription/customers.ts'
import { findSubscription, toNote } from '../subscription/subscriptions.ts'
import { withSubscription } from '../subscription/with-subscription.ts'

/** The discount of the subscription or, if it has none, of the customer; {} if neither has one. */
export async function findDiscount(
  billing: Billing,
  userId: string,
  now: number,
): Promise<ActiveDiscount> {
  const customer = await findCustomer(billing.db, userId)
  if (customer === null || !billing.isConfigured) return {}
  const subscription = await findSubscription(billing.db, userId)
  const stripe = billing.openStripe()
  const found =
    subscription === null
      ? stripe.findCustomerDiscount(customer.customerId, now)
      : stripe.findDiscount(subscription.id, now)
  return (await found.catch(ifMissing(undefined))) ?? {}
}

/**
 * Replaces the discounts of the subscription with the discount of the promotion code. If that discount
 * is already active, nothing changes: entering the code again does not extend it. Throws BAD_REQUEST if
 * the code is unknown, has expired, was used before, or is not for this subscription.
 */
export function applyPromotion(billing: Billing, actor: Actor, code: string): Promise<Discount> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    const { discount, applied } = await stripe.applyPromotion(row.id, code.trim(), actor.now)
    if (applied !== null) {
      await billing.change([actor.audit(toNote('apply_promo', row, applied))])
    }
    return discount
  })
}
