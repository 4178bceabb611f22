import type { PaymentMethodInfo } from '../../contract/billing/billing-schemas.ts'
import type { Actor, Billing } from '../billing.ts'
import { unavailable } from '../stripe/stripe-refusal.ts'
import { findCustomer } from '../subscription/customers.ts'
import { findSubscription, toNote } from '../subscription/subscriptions.ts'
import { withSubscription } from '../subscription/with-subscription.ts'
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

/** Makes the payment method the default of the subscription and of the customer. */
export function setPaymentMethod(billing: Billing, actor: Actor, id: string): Promise<void> {
  return withSubscription(billing, actor.userId, async (stripe, row) => {
    const customer = await findCustomer(billing.db, actor.userId)
    if (customer === null) throw unavailable()
    await stripe.setPaymentMethod(customer.customerId, row.id, id)
    await billing.change([actor.audit(toNote('set_payment_method', row))])
  })
}
