import type { PaymentMethodInfo } from '../../contract/billing/billing-schemas.ts'
import type { Actor, Billing } from '../billing.ts'
import { findPayingMethod, payWith } from '../stripe/payment-methods.ts'
import { findUnpaid } from '../stripe/price-changes.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { findSubscription, type SubscriptionRow, toNote } from '../subscription/subscriptions.ts'
import { auditSync, sync } from '../subscription/sync.ts'
import { requireAny, withSubscription } from '../subscription/with-subscription.ts'
import { withAccount } from './account.ts'

/** The method that pays the next invoice: the subscription's or, if it has none, the customer's. */
export function getPaymentMethod(billing: Billing, userId: string): Promise<PaymentMethodInfo> {
  return withAccount(billing, userId, async (stripe, customerId) => {
    const row = await findSubscription(billing.db, userId)
    return toInfo(await findPayingMethod(stripe, customerId, row?.id))
  })
}

/**
 * Pays the open invoices with the payment method, and makes it the customer's, which pays from then on.
 * Throws PAYMENT_FAILED, and keeps the old one, if it is declined.
 */
export function setPaymentMethod(billing: Billing, actor: Actor, id: string): Promise<void> {
  const { userId } = actor
  const work = async (stripe: Stripe, row: SubscriptionRow) => {
    const { invoices, customerId } = await findUnpaid(stripe, row.id)
    await payWith(stripe, { customerId, subscriptionId: row.id }, invoices, id)
    await sync(billing, stripe, userId, (result) => [
      actor.audit(toNote('set_payment_method', row)),
      ...auditSync(billing, userId, result),
    ])
  }
  return withSubscription(billing, userId, work, requireAny)
}

/** For a method other than a card, `brand` is its type, and the expiry is null. */
function toInfo(method: string | Stripe.PaymentMethod | null): PaymentMethodInfo {
  const none = { brand: null, last4: null, expMonth: null, expYear: null }
  if (method === null || typeof method === 'string') return none
  const { card, type: brand } = method
  if (card === undefined) return { ...none, brand, last4: lastDigits(method) }
  const { exp_month: expMonth, exp_year: expYear } = card
  return { brand: card.brand, last4: card.last4, expMonth, expYear }
}

function lastDigits(method: Stripe.PaymentMethod): string | null {
  const { sepa_debit, us_bank_account, bacs_debit, acss_debit, au_becs_debit } = method
  const account = sepa_debit ?? us_bank_account ?? bacs_debit ?? acss_debit ?? au_becs_debit
  return account?.last4 ?? null
}
