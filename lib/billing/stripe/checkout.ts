import type Stripe from 'stripe'
import type { StripeConfig } from '../../config/config.ts'
import type { CheckoutResponse } from '../../contract/billing/billing-schemas.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { ifMissing, StripeRefusal } from './stripe-refusal.ts'
import { PLAN_FIELD, USER_FIELD } from './stripe-subscription.ts'

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

/** A customer never has more open sessions: each checkout closes the earlier ones. */
const MAX_OPEN = 100

export function checkoutCalls({ read, write }: StripeCalls) {
  const listOpen = async (customer: string): Promise<string[]> => {
    const params = { customer, status: 'open', limit: MAX_OPEN } as const
    const open = await read((sdk, options) => sdk.checkout.sessions.list(params, options)).catch(
      ifMissing(null),
    )
    return (open?.data ?? []).map(({ id }) => id)
  }
  const expire = async (id: string): Promise<boolean> => {
    try {
      await write((sdk, options) => sdk.checkout.sessions.expire(id, {}, options))
      return true
    } catch (error) {
      if (error instanceof StripeRefusal) return false
      throw error
    }
  }
  return {
    openCheckout: async (checkout: CheckoutOptions): Promise<CheckoutResponse> => {
      const { url, client_secret: clientSecret } = await write((sdk, options) =>
        sdk.checkout.sessions.create(paramsOf(checkout), options),
      )
      return { ...(url !== null && { url }), ...(clientSecret !== null && { clientSecret }) }
    },

    /** Closes the customer's open payment pages. Returns whether all are closed. */
    closeCheckouts: async (customerId: string): Promise<boolean> => {
      const outcomes = await Promise.all((await listOpen(customerId)).map(expire))
      return outcomes.every((expired) => expired)
    },
  }
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
