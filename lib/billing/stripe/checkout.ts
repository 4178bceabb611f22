import type Stripe from 'stripe'
import type { StripeConfig } from '../../config/config.ts'
import type { CheckoutResponse } from '../../contract/billing/billing-schemas.ts'
import { PLAN_FIELD, USER_FIELD } from './metadata.ts'
import { MAX_PAGE } from './stripe-calls.ts'
import { ifMissing, onRefusal } from './stripe-refusal.ts'

export interface CheckoutOptions {
  readonly userId: string
  readonly customerId: string
  readonly price: string
  /** The plan that the price sells. */
  readonly planId: string
  /** undefined: Stripe chooses it. */
  readonly currency: string | undefined
  /** Days before the first payment; undefined: the buyer pays now. */
  readonly trialDays: number | undefined
  /** Whether Stripe adds tax to every invoice of the subscription. */
  readonly tax: StripeConfig['tax']
  /** Whether the caller embeds Stripe's page in its own page. */
  readonly embedded: boolean
  /** The URLs to which Stripe sends the buyer back. */
  readonly pages: { readonly done: string; readonly canceled: string }
}

export async function openCheckout(
  stripe: Stripe,
  checkout: CheckoutOptions,
): Promise<CheckoutResponse> {
  const { url, client_secret } = await stripe.checkout.sessions.create(paramsOf(checkout))
  return {
    ...(url !== null && { url }),
    ...(client_secret !== null && { clientSecret: client_secret }),
  }
}

/**
 * Closes the customer's open payment pages. Returns whether all are closed. There are never more than a few:
 * each checkout closes the earlier ones.
 */
export async function closeCheckouts(stripe: Stripe, customer: string): Promise<boolean> {
  const params = { customer, status: 'open', limit: MAX_PAGE } as const
  const open = await stripe.checkout.sessions.list(params).catch(ifMissing({ data: [] }))
  const expired = await Promise.all(
    open.data.map(({ id }) => stripe.checkout.sessions.expire(id).catch(onRefusal(null))),
  )
  return !expired.includes(null)
}

function paramsOf(options: CheckoutOptions) {
  const { userId, customerId, price, planId, currency, trialDays, tax, embedded, pages } = options
  return {
    mode: 'subscription',
    customer: customerId,
    client_reference_id: userId,
    metadata: { [USER_FIELD]: userId },
    line_items: [{ price, quantity: 1 }],
    ...(currency !== undefined && { currency }),
    subscription_data: {
      // All sums of plan changes depend on it.
      billing_mode: { type: 'flexible' },
      metadata: { [USER_FIELD]: userId, [PLAN_FIELD]: planId },
      ...(trialDays !== undefined && { trial_period_days: trialDays }),
    },
    allow_promotion_codes: true,
    billing_address_collection: 'required',
    customer_update: { address: 'auto', name: 'auto' },
    tax_id_collection: { enabled: true },
    ...(tax === 'automatic' && { automatic_tax: { enabled: true } }),
    ...(embedded
      ? { ui_mode: 'embedded_page', return_url: pages.done }
      : { success_url: pages.done, cancel_url: pages.canceled }),
  } satisfies Stripe.Checkout.SessionCreateParams
}
