import type Stripe from 'stripe'
import { badRequest } from '../http/stripe-error.ts'
import { getRow, rowsOf, type World } from '../world.ts'

/** The tax on what a customer buys. */
export interface TaxRule {
  readonly percent: number
  readonly reason: 'standard_rated' | 'reverse_charge'
}

/** Everywhere, so that sums can be checked on paper. */
const PERCENT = 20

/** In these countries the country alone does not say which tax applies. */
const NEED_POSTAL_CODE = ['CA', 'US']

/**
 * Customers with a tax id account for the tax themselves. Returns null if the address does not say which tax
 * applies.
 */
export function findTaxRule(world: World, customerId: string): TaxRule | null {
  if (!isTaxLocation(getRow(world, 'customers', customerId).address ?? null)) return null
  const isBusiness = rowsOf(world, 'taxIds').some(({ customer }) => customer === customerId)
  return isBusiness
    ? { percent: 0, reason: 'reverse_charge' }
    : { percent: PERCENT, reason: 'standard_rated' }
}

export function isTaxLocation(address: Stripe.Address | null): boolean {
  if (!address?.country) return false
  return !NEED_POSTAL_CODE.includes(address.country) || Boolean(address.postal_code)
}

export function requireTaxLocation(world: World, customerId: string): void {
  if (findTaxRule(world, customerId) !== null) return
  throw invalidLocation(
    "The customer's location isn't recognized. Set a valid customer address in order to automatically calculate tax.",
  )
}

export function invalidLocation(message: string) {
  return badRequest(message, { code: 'customer_tax_location_invalid' })
}
