import type Stripe from 'stripe'
import { badRequest } from '../http/stripe-error.ts'
import { getRow, rowsOf, type World } from '../world.ts'
import { getTaxSettings } from './tax-settings.ts'

/** The tax on what a customer buys. */
export interface TaxRule {
  readonly percent: number
  readonly reason: 'standard_rated' | 'reverse_charge' | 'not_collecting'
  /** The id of the tax rate at Stripe. */
  readonly rate: string
}

/** A sample of real rates, in percent. The account of the double is registered in these places. */
const PERCENT: Readonly<Record<string, number>> = {
  AT: 20,
  DE: 19,
  ES: 21,
  FR: 20,
  GB: 20,
  IE: 23,
  IT: 22,
  NL: 21,
  'US-NY': 8.875,
  'US-WA': 10.35,
}

/** In these countries the country alone does not say which tax applies. */
const NEED_POSTAL_CODE = ['CA', 'US']

/** Returns null if the address does not say which tax applies. */
export function findTaxRule(world: World, customerId: string): TaxRule | null {
  const { address = null } = getRow(world, 'customers', customerId)
  if (!isTaxLocation(address)) return null
  const { country, state } = address
  const place = country === 'US' ? `US-${state}` : country
  const percent = PERCENT[place]
  const rate = `txr_${place.replace('-', '')}`
  if (percent === undefined) return { percent: 0, reason: 'not_collecting', rate }
  if (isBusinessAbroad(world, customerId, country)) {
    return { percent: 0, reason: 'reverse_charge', rate }
  }
  return { percent, reason: 'standard_rated', rate }
}

type TaxLocation = Stripe.Address & { readonly country: string }

export function isTaxLocation(address: Stripe.Address | null): address is TaxLocation {
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

/** Businesses in another country, with a tax id of their own, account for the tax themselves. */
function isBusinessAbroad(world: World, customerId: string, country: string): boolean {
  const home = getTaxSettings(world).head_office?.address.country
  if (country === 'US' || country === home) return false
  return rowsOf(world, 'taxIds').some(
    (taxId) => taxId.customer === customerId && taxId.country === country,
  )
}
