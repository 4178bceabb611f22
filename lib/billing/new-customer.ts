import { hash } from 'node:crypto'
import type { Billing } from './billing.ts'
import { findCustomer, insertCustomer } from './customers.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { USER_FIELD } from './told.ts'

export interface Buyer {
  readonly userId: string
  readonly email: string
  readonly name: string | null
}

/**
 * Makes the user a customer of the payment processor. The row is written before anything else is
 * done; should that fail, the same key gives the same customer again.
 */
export async function makeCustomer(
  billing: Billing,
  calls: StripeCalls,
  { buyer, now, key }: { readonly buyer: Buyer; readonly now: number; readonly key: string },
): Promise<string> {
  const { id } = await calls.write(
    (stripe, options) => stripe.customers.create(paramsOf(buyer), options),
    key,
  )
  const row = { userId: buyer.userId, customerId: id, createdAt: now }
  if (await billing.change([insertCustomer(billing.db, row)])) return id
  // An event of the payment processor was faster.
  return (await findCustomer(billing.db, buyer.userId))?.customerId ?? id
}

/** The key by which a customer is made once, by all that is sent: Stripe refuses it with anything else. */
export function customerKey(buyer: Buyer): string {
  return `meridian-customer-${hash('sha256', JSON.stringify(paramsOf(buyer)))}`
}

function paramsOf({ userId, email, name }: Buyer) {
  return { email, ...(name !== null && { name }), metadata: { [USER_FIELD]: userId } }
}
