import type Stripe from 'stripe'
import { ApiError } from '../../parts/errors.ts'
import { idOf, type StripeCalls } from './stripe-calls.ts'
import { ifMissing, StripeRefusal } from './stripe-refusal.ts'
import { OVERAGES_FIELD, toStripeSubscription, USER_FIELD } from './stripe-subscription.ts'

const PAGE = 100

export function subscriptionCalls({ read, write }: StripeCalls) {
  const get = (id: string) => read((sdk, options) => sdk.subscriptions.retrieve(id, {}, options))
  const update = async (id: string, params: Stripe.SubscriptionUpdateParams): Promise<void> => {
    await write((sdk, options) => sdk.subscriptions.update(id, params, options))
  }
  return {
    /**
     * A page of all subscriptions that are not canceled, with their customers; `next` is null on the last
     * page.
     */
    listSubscriptions: async (after: string | null) => {
      const expand = ['data.customer']
      const params = { limit: PAGE, expand, ...(after !== null && { starting_after: after }) }
      const page = await read((sdk, options) => sdk.subscriptions.list(params, options))
      const next = page.has_more ? (page.data.at(-1)?.id ?? null) : null
      return { subscriptions: page.data.map(toStripeSubscription), next }
    },

    getCurrency: async (id: string): Promise<string> => (await get(id)).currency,

    /** Switches overages on or off, and adds an item with this price unless it is null. */
    setOverages: (id: string, wanted: 'on' | 'off', price: string | null) =>
      update(id, {
        metadata: { [OVERAGES_FIELD]: wanted },
        ...(price !== null && { items: [{ price }] }),
        proration_behavior: 'none',
      }),

    cancelAtPeriodEnd: (id: string) => update(id, { cancel_at_period_end: true }),

    /** We cancel with one field, the portal with another; Stripe accepts a change of only one. */
    undoCancellation: async (id: string): Promise<void> => {
      const { cancel_at_period_end: isOurs } = await get(id)
      await update(id, isOurs ? { cancel_at_period_end: false } : { cancel_at: '' })
    },
  }
}

/** A subscription never has more open invoices. */
const MAX_OPEN = 100

/** Calls that end a subscription now, and what it leaves. */
export function cancellationCalls({ read, write }: StripeCalls) {
  return {
    /** Bills the usage so far. Does nothing if the subscription no longer exists. */
    cancelNow: async (id: string): Promise<void> => {
      const params = { invoice_now: true }
      await write((sdk, options) => sdk.subscriptions.cancel(id, params, options)).catch(
        ifMissing(null),
      )
    },

    /**
     * Finalizes and pays the drafts with usage of a subscription that has ended, which Stripe no longer
     * collects. If a payment fails, Stripe tries again.
     */
    collectUsage: async (subscription: string, overagePrice = ''): Promise<void> => {
      const params = { subscription, status: 'draft', limit: MAX_OPEN } as const
      const { data } = await read((sdk, options) => sdk.invoices.list(params, options))
      for (const { id, lines } of data) {
        if (!lines.data.some((line) => isUsage(line, overagePrice))) continue
        const auto = { auto_advance: true }
        await write((sdk, options) => sdk.invoices.finalizeInvoice(id, auto, options))
        await write((sdk, options) => sdk.invoices.pay(id, {}, options)).catch(ifNotPaid)
      }
    },

    /** Makes the open invoices void that subscriptions other than `live` left to the user. */
    voidLeftovers: async (
      { customerId: customer, userId }: { readonly customerId: string; readonly userId: string },
      live: readonly string[],
    ): Promise<void> => {
      const params = { customer, status: 'open', limit: MAX_OPEN } as const
      const { data } = await read((sdk, options) => sdk.invoices.list(params, options))
      for (const { id, parent } of data) {
        const { subscription, metadata } = parent?.subscription_details ?? {}
        // The customer may owe the operator something else.
        if (subscription === undefined || metadata?.[USER_FIELD] !== userId) continue
        if (live.includes(idOf(subscription))) continue
        await write((sdk, options) => sdk.invoices.voidInvoice(id, {}, options))
      }
    },
  }
}

function isUsage({ pricing, amount }: Stripe.InvoiceLineItem, overagePrice: string): boolean {
  const price = pricing?.price_details?.price
  return price !== undefined && idOf(price) === overagePrice && amount > 0
}

/** For `catch`: a payment that failed, or was made already, is not repeated. */
function ifNotPaid(error: unknown): void {
  const isAnswer = error instanceof ApiError && error.code === 'PAYMENT_FAILED'
  if (!isAnswer && !(error instanceof StripeRefusal)) throw error
}
