import { addPrice, addProduct } from './resources/catalog/prices.ts'
import { addMeter } from './resources/meters.ts'
import { activateTax } from './tax/tax-settings.ts'
import type { World } from './world.ts'

export interface SeedPlan {
  readonly id: string
  readonly name: string
  /** Dollars per month. */
  readonly price: number
}

export type SeededPrices = ReturnType<typeof seedPlans>

/** One overage unit is one look-up over the cap. */
export const OVERAGE_EVENT = 'meridian_overage'
const OVERAGE_CENTS = 0.1

/**
 * Adds products for the plans with a price by the month and one by the year, and a metered price for
 * overages, and sets up Stripe Tax.
 */
export function seedPlans(world: World, plans: readonly SeedPlan[]) {
  activateTax(world)
  /** Price ids by plan id. Free plans have no price. */
  const monthly = new Map<string, string>()
  const yearly = new Map<string, string>()
  for (const { id, name, price } of plans.filter((plan) => plan.price > 0)) {
    const amount = Math.round(price * 100)
    const usual = { product: addProduct(world, `Meridian ${name}`).id, currency: 'usd' }
    const month = {
      unit_amount: amount,
      lookup_key: `meridian_${id}`,
      recurring: { interval: 'month' },
    } as const
    const year = {
      unit_amount: 10 * amount,
      lookup_key: `meridian_${id}_yearly`,
      recurring: { interval: 'year' },
    } as const
    monthly.set(id, addPrice(world, { ...usual, ...month }).id)
    yearly.set(id, addPrice(world, { ...usual, ...year }).id)
  }
  return { plans: monthly, yearly, overage: seedOverage(world) }
}

function seedOverage(world: World): string {
  const meter = addMeter(world, 'Meridian overage', OVERAGE_EVENT).id
  const product = addProduct(world, 'Meridian overage').id
  return addPrice(world, {
    product,
    currency: 'usd',
    unit_amount_decimal: OVERAGE_CENTS,
    lookup_key: 'meridian_overage',
    recurring: { interval: 'month', usage_type: 'metered', meter },
  }).id
}
