import Stripe from 'stripe'
import type { StripeConfig } from '../config.ts'
import type { StandingPrice, Untold } from '../standing-price.ts'
import { createStripe } from './stripe-client.ts'

/** Reads for an operator who wants to know whether the account is set up. Changes nothing. */
export interface AccountReader {
  /** Whether the key may read what a server reads. */
  tryToRead(what: 'customers' | 'subscriptions' | 'invoices'): Promise<'may' | Untold>
  readPrice(id: string): Promise<StandingPrice | Untold>
}

const TIMEOUT_MS = 5_000

export function createAccountReader(secretKey: string, config: StripeConfig): AccountReader {
  const { stripe } = createStripe({ secretKey, apiBase: config.apiBase, onTrouble: () => {} })
  const options = { timeout: TIMEOUT_MS }
  return {
    tryToRead: (what) =>
      stripe[what].list({ limit: 1 }, options).then(() => 'may' as const, toUntold),
    readPrice: (id) => stripe.prices.retrieve(id, {}, options).then(toStanding, toUntold),
  }
}

function toStanding({ active, currency, unit_amount, recurring }: Stripe.Price): StandingPrice {
  return {
    isActive: active,
    currency,
    amount: unit_amount,
    period: recurring === null ? null : toPeriod(recurring),
    isMetered: recurring?.usage_type === 'metered',
  }
}

function toPeriod({ interval, interval_count: count }: Stripe.Price.Recurring): string {
  return count === 1 ? `1 ${interval}` : `${count} ${interval}s`
}

function toUntold(error: unknown): Untold {
  const { errors } = Stripe
  if (!(error instanceof errors.StripeError)) throw error
  if (error instanceof errors.StripeConnectionError) {
    return { reason: 'unreachable', detail: error.message }
  }
  if (error instanceof errors.StripeAuthenticationError) {
    return { reason: 'key refused', detail: '' }
  }
  if (error instanceof errors.StripePermissionError) {
    return { reason: 'not allowed', detail: /\brak_\w+/.exec(error.message)?.[0] ?? '' }
  }
  if (error.code === 'resource_missing') return { reason: 'missing', detail: '' }
  return { reason: 'other', detail: `${error.type}, status ${error.statusCode}` }
}
