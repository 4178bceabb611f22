import { addMeter } from './resources/meters.ts'
import { addPrice } from './resources/prices.ts'
import { addProduct } from './resources/products.ts'
import type { World } from './world.ts'

export interface SeedPlan {
  readonly id: string
  readonly name: string
  /** Dollars per month. */
  readonly price: number
}

export interface SeededPrices {
  /** Price ids by plan id; free plans have none. */
  readonly plans: ReadonlyMap<string, string>
  readonly overage: string
}

/** One overage unit is one look-up above the cap. */
export const OVERAGE_EVENT = 'meridian_overage'
const OVERAGE_CENTS = 0.1

/** Products and monthly prices of the plans, and the metered price of overages. */
export function seedPlans(world: World, plans: readonly SeedPlan[]): SeededPrices {
  const recurring = { interval: 'month' } as const
  const paid = plans.filter(({ price }) => price > 0)
  const prices = paid.map(({ id, name, price }): [string, string] => {
    const product = addProduct(world, { name: `Meridian ${name}` }).id
    const unit_amount = Math.round(price * 100)
    const lookup_key = `meridian_${id}`
    return [
      id,
      addPrice(world, { product, currency: 'usd', unit_amount, lookup_key, recurring }).id,
    ]
  })
  return { plans: new Map(prices), overage: seedOverage(world) }
}

function seedOverage(world: World): string {
  const meter = addMeter(world, {
    display_name: 'Meridian overage',
    event_name: OVERAGE_EVENT,
    default_aggregation: { formula: 'sum' },
  }).id
  const product = addProduct(world, { name: 'Meridian overage' }).id
  return addPrice(world, {
    product,
    currency: 'usd',
    unit_amount_decimal: OVERAGE_CENTS,
    lookup_key: 'meridian_overage',
    recurring: { interval: 'month', usage_type: 'metered', meter },
  }).id
}
