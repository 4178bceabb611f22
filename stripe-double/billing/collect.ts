import type Stripe from 'stripe'
import { endSubscription } from '../subscriptions/end-subscription.ts'
import { changeRow, getRow, type World } from '../world.ts'
import type { InvoicePlan } from './new-invoice.ts'
import { chargeNow, subscriptionOf } from './settle-invoice.ts'

/** Creates and charges an invoice at once, then updates the subscription according to the outcome. */
export function collect(world: World, plan: InvoicePlan): Stripe.Invoice {
  const invoice = chargeNow(world, plan)
  applyPayment(world, invoice)
  return invoice
}

/** Updates the subscription after an attempt to pay its invoice. */
export function applyPayment(world: World, invoice: Stripe.Invoice): void {
  const row = subscriptionOf(world, invoice)
  if (row === null || row.status === 'canceled') return
  const status = statusAfter(row, invoice)
  const changes = { latest_invoice: invoice.id, status }
  const type = status === row.status ? undefined : 'customer.subscription.updated'
  const next = changeRow(world, row, changes, type)
  if (isLastAttempt(invoice)) endSubscription(world, next)
}

/** Stores the latest invoice without an event: the invoice has events of its own. */
export function setLatestInvoice(world: World, id: string, invoice: Stripe.Invoice): void {
  const row = getRow(world, 'subscriptions', id)
  changeRow(world, row, { latest_invoice: invoice.id })
}

function statusAfter({ status }: Stripe.Subscription, invoice: Stripe.Invoice) {
  if (invoice.status === 'paid') return status === 'trialing' ? status : 'active'
  return status === 'incomplete' ? status : 'past_due'
}

function isLastAttempt(invoice: Stripe.Invoice): boolean {
  const { status, attempted, next_payment_attempt: next, billing_reason } = invoice
  const hasFailed = status === 'open' && attempted && next === null
  return hasFailed && billing_reason !== 'subscription_create'
}
