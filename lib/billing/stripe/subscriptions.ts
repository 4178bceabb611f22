import type Stripe from 'stripe'
import { readCustomer } from './customers.ts'
import { OVERAGES_FIELD } from './metadata.ts'
import { eachOf } from './stripe-calls.ts'
import { ifMissing } from './stripe-refusal.ts'

/** The customer's subscriptions that have not ended. */
export async function findSubscriptions(
  stripe: Stripe,
  customer: string,
): Promise<Stripe.Subscription[] | 'deleted' | 'missing'> {
  const found = await readCustomer(stripe, customer, ['subscriptions'])
  if (typeof found === 'string') return found
  // The expanded list ends after ten.
  if (found.subscriptions?.has_more !== true) return found.subscriptions?.data ?? []
  return Array.fromAsync(eachOf((page) => stripe.subscriptions.list({ customer, ...page })))
}

/** Switches overages on or off, and adds an item with this price unless it is null. */
export async function switchOverages(
  stripe: Stripe,
  id: string,
  wanted: 'on' | 'off',
  price: string | null,
): Promise<void> {
  await stripe.subscriptions.update(id, {
    metadata: { [OVERAGES_FIELD]: wanted },
    ...(price !== null && { items: [{ price }] }),
    proration_behavior: 'none',
  })
}

export async function cancelAtPeriodEnd(stripe: Stripe, id: string): Promise<void> {
  await stripe.subscriptions.update(id, { cancel_at_period_end: true })
}

/** We cancel with one field, the portal with another; Stripe accepts a change of only one. */
export async function undoCancellation(stripe: Stripe, id: string): Promise<void> {
  const { cancel_at_period_end: isOurs } = await stripe.subscriptions.retrieve(id)
  await stripe.subscriptions.update(
    id,
    isOurs ? { cancel_at_period_end: false } : { cancel_at: '' },
  )
}

/** Bills the usage so far. Does nothing if the subscription no longer exists. */
export async function cancelNow(stripe: Stripe, id: string): Promise<void> {
  await stripe.subscriptions.cancel(id, { invoice_now: true }).catch(ifMissing(null))
}
