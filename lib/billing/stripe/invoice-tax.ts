import type Stripe from 'stripe'
import { ApiError } from '../../parts/errors.ts'

/** Stripe's code if the customer's address does not say which tax applies. */
export const NO_TAX_LOCATION = 'customer_tax_location_invalid'

export function taxLocationNeeded(): ApiError {
  return new ApiError(
    'BAD_REQUEST',
    'The tax cannot be calculated: enter a billing address with country and postal code first',
  )
}

/** If the customer's place is unknown, Stripe previews a change without tax, but refuses the change. */
export function requireTaxLocation({ automatic_tax }: Stripe.Invoice): void {
  if (automatic_tax.status === 'requires_location_inputs') throw taxLocationNeeded()
}

/** The tax of the invoice, added to its prices or included in them. Empty if none was calculated. */
export function taxOf({ total_taxes }: Stripe.Invoice): { tax?: number } {
  if (total_taxes === null || total_taxes.length === 0) return {}
  return { tax: total_taxes.reduce((sum, { amount }) => sum + amount, 0) }
}

/** Lines for taxes that are added to the prices, and for those that the customer pays (reverse charge). */
export function taxLines({ total_taxes }: Stripe.Invoice) {
  return (total_taxes ?? [])
    .filter(({ tax_behavior }) => tax_behavior === 'exclusive')
    .map(({ amount, taxability_reason: reason }) => ({
      description: reason === 'reverse_charge' ? 'Tax (reverse charge)' : 'Tax',
      amount,
    }))
}
