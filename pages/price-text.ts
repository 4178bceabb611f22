import type { Interval, PlanPrices } from '../lib/contract/billing/price-schemas.ts'
import { count } from './dashboard/parts/format.ts'
import { money } from './dashboard/parts/money.ts'

type Price = PlanPrices['prices'][number]

/** What a plan costs. */
export interface PriceParts {
  readonly amount: string
  /** The same in other currencies. */
  readonly others: readonly string[]
  /** null: it costs nothing. */
  readonly interval: Interval | null
}

/** The currency in which the service sells, for what costs nothing; undefined if unknown. */
export function currencyOf(offers: readonly PlanPrices[]): string | undefined {
  return offers.flatMap(({ currency, prices }) => currency ?? prices[0]?.currency ?? [])[0]
}

/**
 * The price by this interval, or by the other one if the plan is not sold by this one. Without prices of Stripe, the
 * number that the operator gave the plan.
 */
export function priceBy(
  { price }: { readonly price: number },
  offer: PlanPrices | undefined,
  { interval, currency }: { readonly interval: Interval; readonly currency: string | undefined },
): PriceParts {
  if (price === 0) return { amount: plainPrice(0, currency), others: [], interval: null }
  const prices = offer?.prices ?? []
  const found = prices.find((one) => one.interval === interval) ?? prices[0]
  if (found === undefined) {
    return { amount: plainPrice(price, offer?.currency), others: [], interval: 'month' }
  }
  const [amount = '', ...others] = [found, ...found.currencies].map((one) =>
    money(one.amount, one.currency),
  )
  return { amount, others, interval: found.interval }
}

/** The price in this currency alone; undefined if it is not sold in it. */
export function priceIn({ currencies, ...price }: Price, currency: string): Price | undefined {
  const found = [price, ...currencies].find((one) => one.currency === currency)
  return found && { ...price, currency, amount: found.amount, currencies: [] }
}

function plainPrice(price: number, currency: string | undefined): string {
  if (currency === undefined) return count(price)
  const style = { style: 'currency', currency, trailingZeroDisplay: 'stripIfInteger' } as const
  return price.toLocaleString('en', style)
}
