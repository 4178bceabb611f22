import Stripe from 'stripe'
import type { StripeConfig } from '../../config/config.ts'
import { createStripe } from './stripe-sdk.ts'

const TIMEOUT_MS = 5_000
const CURRENCIES = ['currency_options']

/** Reads the Stripe account for `npm run doctor`. It changes nothing. */
export function createAccountReader(secretKey: string, { apiBase }: StripeConfig) {
  const { sdk } = createStripe({ secretKey, apiBase, onFailure: () => {} })
  const options = { timeout: TIMEOUT_MS }
  return {
    /** Whether the key may read these objects. A server needs all of them. */
    tryToRead: (what: 'customers' | 'subscriptions' | 'invoices') =>
      sdk[what].list({ limit: 1 }, options).then(() => 'may' as const, toProblem),
    readMeter: (id: string) =>
      sdk.billing.meters.retrieve(id, {}, options).then(toMeter, toProblem),
    readPrice: (id: string) =>
      sdk.prices.retrieve(id, { expand: CURRENCIES }, options).then(toPrice, toProblem),
    readTax: () => sdk.tax.settings.retrieve({}, options).then(toTax, toProblem),
  }
}

function toPrice({ active, currency, currency_options, unit_amount, recurring }: Stripe.Price) {
  return {
    isActive: active,
    currency,
    currencies: [currency, ...Object.keys(currency_options ?? {})],
    amount: unit_amount,
    period: recurring === null ? null : toPeriod(recurring),
    isMetered: recurring?.usage_type === 'metered',
    meter: recurring?.meter ?? null,
  }
}

function toMeter(meter: Stripe.Billing.Meter) {
  return {
    isActive: meter.status === 'active',
    eventName: meter.event_name,
    formula: meter.default_aggregation.formula,
    fields: {
      customer: meter.customer_mapping.event_payload_key,
      value: meter.value_settings.event_payload_key,
    },
  }
}

function toTax({ status, status_details }: Stripe.Tax.Settings) {
  return { status, missing: status_details.pending?.missing_fields ?? [] }
}

function toPeriod({ interval, interval_count: count }: Stripe.Price.Recurring): string {
  return count === 1 ? `1 ${interval}` : `${count} ${interval}s`
}

function toProblem(error: unknown) {
  const { errors } = Stripe
  if (!(error instanceof errors.StripeError)) throw error
  const problem = <Reason extends string>(reason: Reason, detail = '') => ({ reason, detail })
  if (error instanceof errors.StripeConnectionError) return problem('unreachable', error.message)
  if (error instanceof errors.StripeAuthenticationError) return problem('key refused')
  if (error instanceof errors.StripePermissionError) {
    return problem('not allowed', /\brak_\w+/.exec(error.message)?.[0])
  }
  if (error.code === 'resource_missing') return problem('missing')
  return problem('other', `${error.type}, status ${error.statusCode}`)
}
