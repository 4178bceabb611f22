import type { PriceChange } from '../../../../lib/billing/stripe/price-changes.ts'

interface Changed {
  /** The subscription. */
  readonly id: string
  readonly item: string
}

/** A change of the product's to a plan that is paid equally often. `at` is in seconds. */
export function toPlan({ id, item }: Changed, price: string, at: number): PriceChange {
  return {
    subscriptionId: id,
    itemId: item,
    price,
    planId: 'of the case',
    at: at * 1000,
    chargedFrom: '',
    period: 'keep',
  }
}

/** A change of the product's that begins a year. */
export function toYear(changed: Changed, price: string, at: number): PriceChange {
  return { ...toPlan(changed, price, at), period: 'restart' }
}
