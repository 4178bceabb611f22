import type Stripe from 'stripe'
import { requireTaxLocation, taxLines, taxOf } from './invoice-tax.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { ifMissing } from './stripe-refusal.ts'
import { OVERAGES_FIELD, toStripeSubscription } from './stripe-subscription.ts'

/** Gives an item of a subscription another price. */
export interface PriceChange {
  readonly subscriptionId: string
  readonly itemId: string
  readonly price: string
  /** The moment from which the new price is charged, in epoch milliseconds; null: now. */
  readonly prorationAt: number | null
  /** Whether the change begins a new period, as a change of the interval does. */
  readonly period: 'keep' | 'restart'
}

const PAGE = 100

export function subscriptionCalls({ read, write }: StripeCalls) {
  const get = (id: string) => read((sdk, options) => sdk.subscriptions.retrieve(id, {}, options))
  const update = async (id: string, params: Stripe.SubscriptionUpdateParams): Promise<void> => {
    await write((sdk, options) => sdk.subscriptions.update(id, params, options))
  }
  return {
    /** A page of all subscriptions that are not canceled; `next` is null on the last page. */
    listSubscriptions: async (after: string | null) => {
      const params = { limit: PAGE, ...(after !== null && { starting_after: after }) }
      const page = await read((sdk, options) => sdk.subscriptions.list(params, options))
      const next = page.has_more ? (page.data.at(-1)?.id ?? null) : null
      return { subscriptions: page.data.map(toStripeSubscription), next }
    },

    getCurrency: async (id: string): Promise<string> => (await get(id)).currency,

    /** Returns what `changePrice` would cost. */
    previewPrice: async (change: PriceChange) => {
      const { subscriptionId: subscription } = change
      const params = { subscription, subscription_details: paramsOf(change) }
      const invoice = await read((sdk, options) => sdk.invoices.createPreview(params, options))
      requireTaxLocation(invoice)
      const { currency, amount_due: amountDue, lines } = invoice
      const all = [...lines.data.map(toLine), ...taxLines(invoice)]
      return { currency, amountDue, ...taxOf(invoice), lines: all }
    },

    /** Throws PAYMENT_FAILED, and changes nothing, if the card is declined. */
    changePrice: (change: PriceChange, overages: 'keep' | 'off') =>
      update(change.subscriptionId, {
        ...paramsOf(change),
        payment_behavior: 'error_if_incomplete',
        ...(overages === 'off' && { metadata: { [OVERAGES_FIELD]: overages } }),
      }),

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

    /** Ends the subscription now, if it still exists. */
    cancelNow: async (id: string): Promise<void> => {
      await write((sdk, options) => sdk.subscriptions.cancel(id, {}, options)).catch(
        ifMissing(null),
      )
    },
  }
}

function toLine({ description, amount }: Stripe.InvoiceLineItem) {
  return { description, amount }
}

/** The preview and the change share these parameters, so that both cost the same. */
function paramsOf({ itemId, price, prorationAt, period }: PriceChange) {
  return {
    items: [{ id: itemId, price }],
    proration_behavior: 'always_invoice' as const,
    ...(period === 'restart' && { billing_cycle_anchor: { type: 'now' as const } }),
    ...(prorationAt !== null && { proration_date: Math.floor(prorationAt / 1000) }),
  }
}
