import { decimalPlaces } from './money.ts'

/** What Stripe charges for one request over the monthly cap. */
export interface OveragePrice {
  /** ISO 4217, lower case. */
  readonly currency: string
  /** In the smallest unit of the currency: a decimal with at most 12 places, such as 0.05. */
  readonly unitAmount: string
}

/** The price in all its currencies. */
export interface StoredOveragePrice extends OveragePrice {
  /** JSON, from other currencies to what a request costs in them. */
  readonly others: string
}

/** The price in the currency of a subscription or, if it has no such amount, in its own. */
export function priceIn(
  { currency, unitAmount, others }: StoredOveragePrice,
  wanted: string | null,
): OveragePrice {
  const amounts: Readonly<Record<string, string>> = JSON.parse(others)
  const amount = amounts[wanted ?? '']
  if (wanted === null || amount === undefined) return { currency, unitAmount }
  return { currency: wanted, unitAmount: amount }
}

/** The terms on which a user pays for requests over the monthly cap. */
export interface OverageTerms extends OveragePrice {
  /** The most that a period may cost, in the smallest unit of the currency. */
  readonly spendingCap: number
  /** How many requests the spending cap pays for. */
  readonly maxUnits: number
}

/** A spending cap that a user has chosen. */
export interface ChosenCap {
  readonly currency: string
  readonly amount: number
}

type Priced = { readonly price: number }

const DEFAULT_TIMES = 3
const LARGEST_TIMES = 100

/** The spending cap of users who have chosen none: three times the price of their plan. */
export function defaultSpendingCap(plan: Priced, currency: string): number {
  return DEFAULT_TIMES * smallestUnits(plan, currency)
}

/** The largest spending cap that users of the plan may choose. */
export function largestSpendingCap(plan: Priced, currency: string): number {
  return LARGEST_TIMES * smallestUnits(plan, currency)
}

/** A cap that was chosen in another currency does not count. */
export function toOverageTerms(
  plan: Priced,
  price: OveragePrice,
  chosen: ChosenCap | null,
): OverageTerms {
  const { currency } = price
  const spendingCap =
    chosen?.currency === currency ? chosen.amount : defaultSpendingCap(plan, currency)
  return { ...price, spendingCap, maxUnits: unitsWithin(price, spendingCap) }
}

/**
 * What Stripe charges for the units, before tax and discounts: it multiplies exactly, and rounds the
 * product, half up (https://docs.stripe.com/products-prices/pricing-models, decimal amounts).
 */
export function amountOf({ unitAmount }: Pick<OveragePrice, 'unitAmount'>, units: number): number {
  return Number((scaled(unitAmount) * BigInt(units) + SCALE / 2n) / SCALE)
}

/** The most units that cost no more than `amount`, up to the largest safe integer; infinite if they are free. */
export function unitsWithin(
  { unitAmount }: Pick<OveragePrice, 'unitAmount'>,
  amount: number,
): number {
  const unit = scaled(unitAmount)
  if (unit === 0n) return Number.POSITIVE_INFINITY
  return Math.min(Number((BigInt(amount) * SCALE) / unit), Number.MAX_SAFE_INTEGER)
}

/** Stripe allows 12 decimal places. */
const PLACES = 12
const SCALE = 10n ** BigInt(PLACES)

function scaled(decimal: string): bigint {
  const [whole = '', fraction = ''] = decimal.split('.')
  return BigInt(whole + fraction.slice(0, PLACES).padEnd(PLACES, '0'))
}

function smallestUnits({ price }: Priced, currency: string): number {
  return Math.round(price * 10 ** decimalPlaces(currency))
}
