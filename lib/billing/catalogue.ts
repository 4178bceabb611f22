import type { Plan } from '../config/plans.ts'
import type { PlanPrices } from '../contract/billing/price-schemas.ts'
import type { Billing } from './billing.ts'
import { getPrice, type StripePrice } from './stripe/prices.ts'

/**
 * The prices of the plans, as Stripe last reported them. It is empty until `refresh` has read them.
 * Reading the catalogue never waits for Stripe.
 */
export function createCatalogue(plans: readonly Plan[], billing: Billing) {
  let known = new Map<string, StripePrice>()
  let list = toList(plans, billing, known)
  return {
    /** The plans, cheapest first, with the prices at which they are sold. */
    list: () => list,
    /** A price at which a plan is, or was, sold; undefined if it has not been read. */
    find: (priceId: string) => known.get(priceId),
    /** Reads all prices from Stripe. If one cannot be read, keeps what it has and throws. */
    refresh: async () => {
      const stripe = billing.openStripe()
      const read = await Promise.all(billing.prices.all.map((id) => getPrice(stripe, id)))
      known = new Map(read.map((price) => [price.id, price]))
      list = toList(plans, billing, known)
    },
  }
}

function toList(
  plans: readonly Plan[],
  { prices }: Billing,
  known: ReadonlyMap<string, StripePrice>,
): readonly PlanPrices[] {
  return plans.map((plan) => ({
    planId: plan.id,
    requestsPerMinute: plan.requestsPerMinute,
    ...(plan.currency !== undefined && { currency: plan.currency }),
    ...(plan.trialDays !== undefined && { trialDays: plan.trialDays }),
    prices: prices.soldAs(plan).flatMap(({ interval, id }) => {
      const price = known.get(id)
      return typeof price?.amount === 'number' ? { ...price, interval, amount: price.amount } : []
    }),
  }))
}
