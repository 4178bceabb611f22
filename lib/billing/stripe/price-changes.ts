import type Stripe from 'stripe'
import type { PaymentConfirmation } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import { requireTaxLocation, taxLines, taxOf } from './invoice-tax.ts'
import { CHARGED_FROM_FIELD, OVERAGES_FIELD, PLAN_FIELD } from './metadata.ts'
import { idOf, MAX_PAGE } from './stripe-calls.ts'
import { BillingUnavailable, ConfirmationNeeded } from './stripe-refusal.ts'

/** Gives an item of a subscription another price. */
export interface PriceChange {
  readonly subscriptionId: string
  readonly itemId: string
  readonly price: string
  /** The plan that the price sells. */
  readonly planId: string
  /** From when the difference in price is charged or credited, in epoch milliseconds. */
  readonly at: number
  /** Stored with the subscription: see `ChangeTime`. Empty if the change begins a new period. */
  readonly chargedFrom: string
  /** Whether the change begins a new period, as a change of the interval and the end of a trial do. */
  readonly period: 'keep' | 'restart' | 'end-trial'
}

/** A change of the price that waits until the customer has confirmed its payment. */
export interface PendingChange {
  /** The prices of the subscription after the change. */
  readonly prices: readonly string[]
  readonly invoiceId: string
  /** What its invoice charges. */
  readonly cost: ReturnType<typeof toCost>
  /** See `PriceChange`. */
  readonly at: number
  readonly confirmation: PaymentConfirmation
}

const EXPANDED = ['latest_invoice']

/** Returns what `changePrice` would cost. */
export async function previewPrice(stripe: Stripe, change: PriceChange) {
  const { subscriptionId: subscription } = change
  const subscription_details = paramsOf(change)
  const invoice = await stripe.invoices.createPreview({ subscription, subscription_details })
  requireTaxLocation(invoice)
  return toCost(invoice)
}

/**
 * Returns null once the price is changed. If the bank asks the customer to confirm the payment,
 * returns the pending change, which Stripe applies once it is paid. Throws PAYMENT_FAILED, and
 * changes nothing, if the card is declined, or if the change must not wait for the bank (`ifAsked`).
 */
export async function changePrice(
  stripe: Stripe,
  change: PriceChange,
  overages: 'keep' | 'off',
  ifAsked: 'wait' | 'refuse' = 'wait',
): Promise<PendingChange | null> {
  const { subscriptionId: id } = change
  const metadata = {
    [PLAN_FIELD]: change.planId,
    // Stripe removes a field whose value is empty.
    [CHARGED_FROM_FIELD]: change.chargedFrom,
    ...(overages === 'off' && { [OVERAGES_FIELD]: overages }),
  }
  const params = { ...paramsOf(change), metadata }
  try {
    await stripe.subscriptions.update(id, { ...params, payment_behavior: 'error_if_incomplete' })
    return null
  } catch (error) {
    if (!(error instanceof ConfirmationNeeded)) throw error
    if (ifAsked === 'refuse') throw confirmElsewhere()
  }
  const pending = { payment_behavior: 'pending_if_incomplete', expand: EXPANDED } as const
  return toPending(await stripe.subscriptions.update(id, { ...params, ...pending }))
}

/** Finds what the customer must still pay: a pending change, and the ids of other open invoices. */
export async function findUnpaid(stripe: Stripe, id: string) {
  const subscription = await stripe.subscriptions.retrieve(id, { expand: EXPANDED })
  const pending = toPending(subscription)
  const open = { subscription: id, status: 'open', limit: MAX_PAGE } as const
  const ids = (await stripe.invoices.list(open)).data.map((invoice) => invoice.id)
  const invoices = ids.filter((invoice) => invoice !== pending?.invoiceId)
  return { customerId: idOf(subscription.customer), pending, invoices }
}

function toCost(invoice: Stripe.Invoice) {
  const { currency, amount_due: amountDue, lines } = invoice
  const all = [...lines.data.map(toLine), ...taxLines(invoice)]
  return { currency, amountDue, ...taxOf(invoice), lines: all }
}

function toLine({ description, amount }: Stripe.InvoiceLineItem) {
  return { description, amount }
}

/** The preview and the change share these parameters, so that both cost the same. */
function paramsOf({ itemId, price, at, period }: PriceChange) {
  return {
    items: [{ id: itemId, price }],
    proration_behavior: 'always_invoice' as const,
    ...periodParams(period, at),
  }
}

function periodParams(period: PriceChange['period'], at: number) {
  switch (period) {
    case 'keep':
      return { proration_date: toSeconds(at) }
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
  if (invoice === null || typeof invoice === 'string') throw new BillingUnavailable()
  const { id: invoiceId, hosted_invoice_url: url } = invoice
  if (url === null || url === undefined) throw new BillingUnavailable()
  const prices = (update.subscription_items ?? []).map(({ price }) => price.id)
  const expiresAt = new Date(update.expires_at * 1000).toISOString()
  // Its lines begin when the difference begins to be charged.
  const at = (invoice.lines.data[0]?.period.start ?? invoice.created) * 1000
  const cost = toCost(invoice)
  return { prices, invoiceId, cost, at, confirmation: { url, expiresAt } }
}

function confirmElsewhere(): ApiError {
  return new ApiError(
    'PAYMENT_FAILED',
    'The bank asks to confirm the payment, and this change cannot wait for that: first confirm a card in the customer portal (POST /v1/billing/portal), then change the plan. If the bank asks for every payment, cancel, and buy the plan after the end',
  )
}

function toSeconds(time: number): number {
  return Math.floor(time / 1000)
}
