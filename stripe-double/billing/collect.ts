import type Stripe from 'stripe'
import { endSubscription } from '../subscriptions/end-subscription.ts'
import { applyPending } from '../subscriptions/pending-update.ts'
import { changeRow, getRow, type World } from '../world.ts'
import type { Payment } from './charge-card.ts'
import type { InvoicePlan } from './new-invoice.ts'
import { chargeNow, subscriptionOf } from './settle-invoice.ts'

/** Creates and charges an invoice at once, then updates the subscription according to the outcome. */
export function collect(
  world: World,
  plan: InvoicePlan,
  payment: Partial<Payment> = {},
): Stripe.Invoice {
  const invoice = chargeNow(world, plan, payment)
  setLatestInvoice(world, plan.subscription.id, invoice)
  applyPayment(world, invoice)
  return invoice
}

/** Updates the subscription after an attempt to pay its invoice. */
export function applyPayment(world: World, invoice: Stripe.Invoice): void {
  const row = subscriptionOf(world, invoice)
  if (row === null || row.status === 'canceled') return
  if (invoice.status === 'paid' && applyPending(world, invoice, row.id)) return
  if (row.pending_update !== null && row.latest_invoice === invoice.id) return
  const status = statusAfter(row, invoice)
  const type = status === row.status ? undefined : 'customer.subscription.updated'
  const next = changeRow(world, row, { status }, type)
  if (isLastAttempt(invoice)) endDunning(world, next)
}

/** Stores the latest invoice without an event: the invoice has events of its own. */
export function setLatestInvoice(world: World, id: string, invoice: Stripe.Invoice): void {
  const row = getRow(world, 'subscriptions', id)
  changeRow(world, row, { latest_invoice: invoice.id })
}

/** Only the latest invoice makes a subscription active again. */
function statusAfter({ status, latest_invoice }: Stripe.Subscription, invoice: Stripe.Invoice) {
  if (invoice.status === 'paid') {
    return status === 'trialing' || latest_invoice !== invoice.id ? status : 'active'
  }
  return status === 'incomplete' || status === 'unpaid' ? status : 'past_due'
}

function endDunning(world: World, row: Stripe.Subscription): void {
  if (world.state.dunning.get('policy')?.end !== 'unpaid') {
    endSubscription(world, row, 'discarded')
    return
  }
  changeRow(world, row, { status: 'unpaid' }, 'customer.subscription.updated')
}

function isLastAttempt(invoice: Stripe.Invoice): boolean {
  const { status, attempted, next_payment_attempt: next, billing_reason } = invoice
  const hasFailed = status === 'open' && attempted && next === null
  return hasFailed && billing_reason !== 'subscription_create'
}
