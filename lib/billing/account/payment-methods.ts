import type { PaymentMethodInfo } from '../../contract/billing/billing-schemas.ts'
import type { Actor, Billing } from '../billing.ts'
import { unavailable } from '../stripe/stripe-refusal.ts'
import { findCustomer } from '../subscription/customers.ts'
import { findSubscription, toNote } from '../subscription/subscriptions.ts'
import { auditSync, sync } from '../subscription/sync.ts'
import { withUnpaidSubscription } from '../subscription/with-subscription.ts'
import { changeAccount, withAccount } from './with-account.ts'

/** Returns the payment method for the user's next invoice. */
export function getPaymentMethod(billing: Billing, userId: string): Promise<PaymentMethodInfo> {
  return withAccount(billing, userId, async (stripe, customer) => {
    const subscription = await findSubscription(billing.db, userId)
    return stripe.getPaymentMethod(customer, subscription?.id)
  })
}

/** Returns the client secret with which Stripe's form adds a payment method. */
export function createSetupIntent(billing: Billing, actor: Actor): Promise<string> {
  // Without a Stripe key, even a user without a customer gets BILLING_NOT_CONFIGURED.
  billing.openStripe()
  return changeAccount(billing, actor, 'create_setup_intent', (stripe, customer) =>
    stripe.createSetupIntent(customer),
  )
}

/**
 * Pays the open invoices with the payment method, and makes it the default of the subscription and of
 * the customer. Throws PAYMENT_FAILED, and keeps the old default, if it is declined.
 */
export function setPaymentMethod(billing: Billing, actor: Actor, id: string): Promise<void> {
  const { userId } = actor
  return withUnpaidSubscription(billing, userId, async (stripe, row) => {
    const customer = await findCustomer(billing.db, userId)
    if (customer === null) throw unavailable()
    const { customerId } = customer
    const { invoices } = await stripe.findUnpaid(row.id)
    await stripe.setPaymentMethod({ customerId, subscriptionId: row.id, invoices }, id)
    await sync(billing, stripe, userId, (result) => [
      actor.audit(toNote('set_payment_method', row)),
      ...auditSync(billing, userId, result),
    ])
  })
}
