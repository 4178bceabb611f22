import type Stripe from 'stripe'
import type { AddressBody } from '../contract/billing-account-bodies.ts'
import type { BillingDetails } from '../contract/billing-schemas.ts'
import type { Actor } from './actor.ts'
import type { Billing } from './billing.ts'
import { invalidAs } from './stripe-calls.ts'
import { noAccount, withAccount } from './with-account.ts'

/** What stands on the invoices of the user. */
export function getBillingDetails(billing: Billing, userId: string): Promise<BillingDetails> {
  return withAccount(billing, userId, async (calls, id) => {
    const customer = await calls.read((stripe, options) =>
      stripe.customers.retrieve(id, {}, options),
    )
    if (customer.deleted) throw noAccount()
    const { name = null, email, address = null } = customer
    return { name, email, address: address && toAddress(address) }
  })
}

/** Replaces the whole address: lines that are not told are emptied. */
export function updateAddress(
  billing: Billing,
  actor: Actor,
  { line1, line2 = '', city = '', state = '', postal_code = '', country }: AddressBody,
): Promise<void> {
  const address = { line1, line2, city, state, postal_code, country }
  return withAccount(billing, actor.userId, async (calls, id) => {
    await calls
      .write((stripe, options) => stripe.customers.update(id, { address }, options))
      .catch(invalidAs('The address is not valid'))
    const target = { targetType: 'customer', targetId: id, detail: null }
    await billing.change([actor.audit({ action: 'update_address', ...target })])
  })
}

function toAddress({ line1, line2, city, state, postal_code, country }: Stripe.Address) {
  return { line1, line2, city, state, postalCode: postal_code, country }
}
