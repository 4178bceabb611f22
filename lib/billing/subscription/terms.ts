import type { Terms } from '../../contract/billing/price-schemas.ts'
import type { Offer } from '../plan-prices.ts'
import type { StripePrice } from '../stripe/prices.ts'
import type { SubscriptionRow } from './subscriptions.ts'

interface Prices {
  /** The price of the plan; undefined if it has not been read. */
  readonly price: StripePrice | undefined
  /** The offer of the last plan change, if its payment was not confirmed in time. */
  readonly lapsed: Offer | undefined
}

/** How the subscription is paid. */
export function toTerms(row: SubscriptionRow, { price, lapsed }: Prices): Terms {
  const { interval, currency, trialEnd, cancelAt } = row
  const amounts = price === undefined ? [] : [price, ...price.currencies]
  return {
    interval,
    currency,
    amount: amounts.find((one) => one.currency === currency)?.amount ?? null,
    trialEndsAt: trialEnd === null ? null : new Date(trialEnd).toISOString(),
    cancelAt: cancelAt === null ? null : new Date(cancelAt).toISOString(),
    ...(lapsed && { lapsedChange: { planId: lapsed.plan.id, interval: lapsed.interval } }),
  }
}
