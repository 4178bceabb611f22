import type Stripe from 'stripe'
import type { PaymentConfirmation } from '../../contract/billing/billing-schemas.ts'
import type { StripeCalls } from './stripe-calls.ts'
import { ConfirmationNeeded, unavailable } from './stripe-refusal.ts'
import { CHARGED_FROM_FIELD, OVERAGES_FIELD } from './stripe-subscription.ts'
import { requireTaxLocation, taxLines, taxOf } from './tax/invoice-tax.ts'

/** Gives an item of a subscription another price. */
export interface PriceChange {
  readonly subscriptionId: string
  readonly itemId: string
  readonly price: string
  /** The moment from which the new price is charged, in epoch milliseconds. */
  readonly chargedFrom: number
  /** Whether the change begins a new period, as a change of the interval and the end of a trial do. */
  readonly period: 'keep' | 'restart' | 'end-trial'
}

/** A change of the price that waits until the customer has confirmed its payment. */
export interface PendingChange {
  /** The prices of the subscription after the change. */
  readonly prices: readonly string[]
  readonly invoiceId: string
  readonly confirmation: PaymentConfirmation
}

/** More than a subscription ever has. */
const MAX_OPEN = 100
const EXPANDED = ['latest_invoice']

export function priceChangeCalls({ read, write }: StripeCalls) {
  const update = (id: string, params: Stripe.SubscriptionUpdateParams) =>
    write((sdk, options) => sdk.subscriptions.update(id, params, options))
  return {
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

    /**
     * Returns null once the price is changed. If the bank asks the customer to confirm the payment,
     * returns the pending change, which Stripe makes when it is paid. Throws PAYMENT_FAILED, and changes
     * nothing, if the card is declined.
     */
    changePrice: async (
      change: PriceChange,
      overages: 'keep' | 'off',
    ): Promise<PendingChange | null> => {
      const { subscriptionId: id, chargedFrom } = change
      const metadata = {
        [CHARGED_FROM_FIELD]: String(toSeconds(chargedFrom)),
        ...(overages === 'off' && { [OVERAGES_FIELD]: overages }),
      }
      const params = { ...paramsOf(change), metadata }
      try {
        await update(id, { ...params, payment_behavior: 'error_if_incomplete' })
        return null
      } catch (error) {
        if (!(error instanceof ConfirmationNeeded)) throw error
      }
      const pending = { payment_behavior: 'pending_if_incomplete', expand: EXPANDED } as const
      return toPending(await update(id, { ...params, ...pending }))
    },

    /** What waits for the customer: a change of the price, and the ids of other open invoices. */
    findUnpaid: async (id: string) => {
      const subscription = await read((sdk, options) =>
        sdk.subscriptions.retrieve(id, { expand: EXPANDED }, options),
      )
      const pending = toPending(subscription)
      const params = { subscription: id, status: 'open', limit: MAX_OPEN } as const
      const { data } = await read((sdk, options) => sdk.invoices.list(params, options))
      const ids = data.map((invoice) => invoice.id)
      return { pending, invoices: ids.filter((invoice) => invoice !== pending?.invoiceId) }
    },

    /** Discards a pending change by making its invoice void. */
    discardChange: async ({ invoiceId }: PendingChange): Promise<void> => {
      await write((sdk, options) => sdk.invoices.voidInvoice(invoiceId, {}, options))
    },
  }
}

function toLine({ description, amount }: Stripe.InvoiceLineItem) {
  return { description, amount }
}

/** The preview and the change share these parameters, so that both cost the same. */
function paramsOf({ itemId, price, chargedFrom, period }: PriceChange) {
  return {
    items: [{ id: itemId, price }],
    proration_behavior: 'always_invoice' as const,
    ...periodParams(period, chargedFrom),
  }
}

function periodParams(period: PriceChange['period'], chargedFrom: number) {
  switch (period) {
    case 'keep':
      return { proration_date: toSeconds(chargedFrom) }
    case 'restart':
      return { billing_cycle_anchor: { type: 'now' as const } }
    case 'end-trial':
      return { trial_end: 'now' as const }
  }
}

/** null: no change is pending. Expects an expanded invoice. */
function toPending({
  pending_update: update,
  latest_invoice: invoice,
}: Stripe.Subscription): PendingChange | null {
  if (update === null) return null
  if (invoice === null || typeof invoice === 'string') throw unavailable()
  const { id: invoiceId, hosted_invoice_url: url } = invoice
  if (url === null || url === undefined) throw unavailable()
  const prices = (update.subscription_items ?? []).map(({ price }) => price.id)
  const expiresAt = new Date(update.expires_at * 1000).toISOString()
  return { prices, invoiceId, confirmation: { url, expiresAt } }
}

function toSeconds(time: number): number {
  return Math.floor(time / 1000)
}
