import { ApiError } from '../../parts/errors.ts'
import type { Billing } from '../billing.ts'
import { CANNOT_COLLECT, listWithOverages } from '../overages/collect-ended.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
import { StripeRefusal, unavailable } from '../stripe/stripe-refusal.ts'
import { type CustomerRow, findCustomer } from './customers.ts'

/** The steps before and after the subscriptions end. */
interface Steps {
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
  { reportOverages, removeUser }: Steps,
): Promise<boolean> {
  return billing.enqueue(userId, async () => {
    const customer = await findCustomer(billing.db, userId)
    if (customer !== null) {
      if (!billing.isConfigured) throw withoutStripe()
      await reportOverages()
      await endAtStripe(billing, customer)
    }
    return removeUser()
  })
}

async function endAtStripe(billing: Billing, { userId, customerId }: CustomerRow): Promise<void> {
  const stripe = billing.openStripe()
  // If a page cannot be closed, somebody is paying on it.
  if (!(await stripe.closeCheckouts(customerId))) throw unavailable()
  // An earlier attempt may have ended a subscription, and then failed.
  const earlier = await listWithOverages(billing.db, userId)
  const ended = await cancelAll(stripe, customerId)
  if (ended === 'deleted') return
  for (const id of new Set([...earlier, ...ended])) await collectLast(billing, id)
}

/** Returns the ids of the subscriptions that it has ended. */
async function cancelAll(stripe: StripeGateway, customerId: string): Promise<string[] | 'deleted'> {
  const ended: string[] = []
  for (;;) {
    const open = await stripe.findSubscriptions(customerId)
    // Another Stripe account has the customer, and may continue to charge.
    if (open === 'missing') throw unavailable()
    if (open === 'deleted') return open
    if (open.length === 0) return ended
    for (const { id } of open) {
      await stripe.cancelNow(id)
      ended.push(id)
    }
  }
}

/** What Stripe refuses to collect, the user cannot change: it is logged for the operator. */
async function collectLast(
  { openStripe, overagePrice, onDelayed }: Billing,
  subscription: string,
): Promise<void> {
  await openStripe()
    .collectUsage(subscription, overagePrice)
    .catch((error) => {
      if (!(error instanceof StripeRefusal)) throw error
      onDelayed(error, CANNOT_COLLECT, { subscription })
    })
}

function withoutStripe(): ApiError {
  return new ApiError(
    'BILLING_NOT_CONFIGURED',
    'This account is a customer at Stripe, which is not configured: ask the administrator',
  )
}
