import { ApiError } from '../../parts/errors.ts'
import type { Billing } from '../billing.ts'
import { closeCheckouts } from '../stripe/checkout.ts'
import { BillingUnavailable } from '../stripe/stripe-refusal.ts'
import { cancelNow, findSubscriptions } from '../stripe/subscriptions.ts'
import { findCustomer } from './customers.ts'
import { settleLeftovers } from './leftovers.ts'
import { rememberTrial } from './trials.ts'

/** The time, and the steps before and after the subscriptions end. */
interface Steps {
  /** Epoch milliseconds. */
  readonly now: number
  /** Reports the overages so far to Stripe. */
  readonly reportOverages: () => Promise<void>
  readonly removeUser: () => Promise<boolean>
}

/**
 * Ends everything that the user pays for at Stripe, at once and without a refund, and then removes the
 * user. If Stripe cannot do it, throws BILLING_UNAVAILABLE and removes nothing. The customer and its
 * invoices stay at Stripe: the operator has to keep them.
 */
export async function endBilling(
  billing: Billing,
  userId: string,
  { now, reportOverages, removeUser }: Steps,
): Promise<boolean> {
  return billing.enqueue(userId, async () => {
    const customer = await findCustomer(billing.db, userId)
    if (customer !== null) {
      if (!billing.isConfigured) throw withoutStripe()
      await reportOverages()
      await endAtStripe(billing, customer.customerId)
      await settleLeftovers(billing, customer.customerId, now)
    }
    await rememberTrial(billing, userId)
    return removeUser()
  })
}

async function endAtStripe(billing: Billing, customerId: string): Promise<void> {
  const stripe = billing.openStripe()
  // If a page cannot be closed, somebody is paying on it.
  if (!(await closeCheckouts(stripe, customerId))) throw new BillingUnavailable()
  for (;;) {
    const open = await findSubscriptions(stripe, customerId)
    // Another Stripe account has the customer, and may continue to charge.
    if (open === 'missing') throw new BillingUnavailable()
    if (open === 'deleted' || open.length === 0) return
    for (const { id } of open) await cancelNow(stripe, id)
  }
}

function withoutStripe(): ApiError {
  return new ApiError(
    'BILLING_NOT_CONFIGURED',
    'This account is a customer at Stripe, which is not configured: ask the administrator',
  )
}
