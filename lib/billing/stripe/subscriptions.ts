import type Stripe from 'stripe'
import { idOf, type StripeCalls } from './stripe-calls.ts'
import { ifMissing } from './stripe-refusal.ts'
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
    /** Does nothing if the subscription no longer exists. */
    cancelNow: async (id: string): Promise<void> => {
      await write((sdk, options) => sdk.subscriptions.cancel(id, {}, options)).catch(
        ifMissing(null),
      )
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
