import type { Terms } from '../../contract/billing/price-schemas.ts'
import type { StripePrice } from '../stripe/prices.ts'
import type { SubscriptionRow } from './subscriptions.ts'

/** How the subscription is paid. `price` is the price of its plan, if it has been read. */
export function toTerms(row: SubscriptionRow, price: StripePrice | undefined): Terms {
  const { interval, currency, trialEnd } = row
  const amounts = price === undefined ? [] : [price, ...price.currencies]
  return {
    interval,
    currency,
    amount: amounts.find((one) => one.currency === currency)?.amount ?? null,
    trialEndsAt: trialEnd === null ? null : new Date(trialEnd).toISOString(),
  }
}
