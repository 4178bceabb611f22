import type Stripe from 'stripe'
import { readCustomer } from './customers.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { ifMissing } from './stripe-refusal.ts'
import {
  OVERAGES_FIELD,
  type StripeSubscription,
  toStripeSubscription,
} from './stripe-subscription.ts'

const PAGE = 100

export function subscriptionCalls(calls: StripeCalls) {
  const { read, write } = calls
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

    /** The customer's subscriptions that have not ended. */
    findSubscriptions: async (
      customer: string,
    ): Promise<StripeSubscription[] | 'deleted' | 'missing'> => {
      const found = await readCustomer(calls, customer, ['subscriptions'])
      if (typeof found === 'string') return found
      // The expanded list ends after ten.
      let page = found.subscriptions ?? { data: [], has_more: false }
      const all = [...page.data]
      while (page.has_more) {
        const params = { customer, limit: PAGE, starting_after: all.at(-1)?.id ?? '' }
        page = await read((sdk, options) => sdk.subscriptions.list(params, options))
        all.push(...page.data)
      }
      return all.map(toStripeSubscription)
    },

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

    /** Bills the usage so far. Does nothing if the subscription no longer exists. */
    cancelNow: async (id: string): Promise<void> => {
      const params = { invoice_now: true }
      await write((sdk, options) => sdk.subscriptions.cancel(id, params, options)).catch(
        ifMissing(null),
      )
    },
  }
}
