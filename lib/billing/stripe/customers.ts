import type Stripe from 'stripe'
import { ifMissing, StripeRefusal } from './stripe-refusal.ts'

/** Whether the account has, or had, the customer. */
export async function hasCustomer(stripe: Stripe, id: string): Promise<boolean> {
  return (await readCustomer(stripe, id)) !== 'missing'
}

/**
 * Stripe remembers deleted customers for good. So a customer that it does not know at all belongs to
 * another account or mode.
 */
export async function readCustomer(
  stripe: Stripe,
  id: string,
  expand: string[] = [],
): Promise<Stripe.Customer | 'deleted' | 'missing'> {
  const customer = await stripe.customers.retrieve(id, { expand }).catch(ifMissing(null))
  if (customer === null) return 'missing'
  return customer.deleted ? 'deleted' : customer
}

/** Treats a deleted customer as missing, like one that never existed. */
export async function getCustomer(
  stripe: Stripe,
  id: string,
  expand: string[] = [],
): Promise<Stripe.Customer> {
  const customer = await readCustomer(stripe, id, expand)
  if (typeof customer === 'string') throw new StripeRefusal('resource_missing')
  return customer
}
