import type Stripe from 'stripe'
import type { ActiveDiscount, Discount } from '../contract/billing-schemas.ts'
import type { Billing } from './billing.ts'
import { findCustomer } from './customers.ts'
import { isMissing, type StripeCalls } from './stripe-calls.ts'
import { findSubscription } from './subscriptions.ts'

/** What `toDiscount` needs of a discount in full. */
const WHOLE = ['promotion_code', 'source.coupon'] as const

/** The paths to expand for the discounts at `place`. */
export function wholeDiscounts(place: string): string[] {
  return WHOLE.map((field) => `${place}.${field}`)
}

/** The discount of the subscription, or else of the customer; empty where there is none. */
export async function findDiscount(
  billing: Billing,
  userId: string,
  now: number,
): Promise<ActiveDiscount> {
  const customer = await findCustomer(billing.db, userId)
  if (customer === null || !billing.isConfigured) return {}
  const subscription = await findSubscription(billing.db, userId)
  const calls = billing.begin()
  try {
    const discounts =
      subscription === null
        ? await discountsOfCustomer(calls, customer.customerId)
        : await discountsOfSubscription(calls, subscription.id)
    const active = findActive(discounts, now)
    return active === null ? {} : toDiscount(active)
  } catch (error) {
    if (isMissing(error)) return {}
    throw error
  }
}

/** The first that has not ended; those that are not expanded are left out. */
export function findActive(
  discounts: readonly (string | Stripe.Discount | null | undefined)[],
  now: number,
): Stripe.Discount | null {
  const whole = discounts.filter((one) => typeof one === 'object').filter((one) => one !== null)
  return whole.find(({ end }) => end === null || now < end * 1000) ?? null
}

export function toDiscount({ promotion_code, source, end }: Stripe.Discount): Discount {
  const { coupon } = source
  const reduction = coupon === null || typeof coupon === 'string' ? null : coupon
  return {
    code: typeof promotion_code === 'object' ? (promotion_code?.code ?? null) : null,
    percentOff: reduction?.percent_off ?? null,
    amountOff: reduction?.amount_off ?? null,
    currency: reduction?.currency ?? null,
    endsAt: end === null ? null : new Date(end * 1000).toISOString(),
  }
}

async function discountsOfCustomer(calls: StripeCalls, id: string) {
  const customer = await calls.read((stripe, options) =>
    stripe.customers.retrieve(id, { expand: wholeDiscounts('discount') }, options),
  )
  return customer.deleted ? [] : [customer.discount]
}

async function discountsOfSubscription(calls: StripeCalls, id: string) {
  const expand = [...wholeDiscounts('discounts'), ...wholeDiscounts('customer.discount')]
  const { discounts, customer } = await calls.read((stripe, options) =>
    stripe.subscriptions.retrieve(id, { expand }, options),
  )
  const ofCustomer = typeof customer === 'string' || customer.deleted ? null : customer.discount
  return [...discounts, ofCustomer]
}
