import type Stripe from 'stripe'
import { changeRow, getRow, type World } from '../world.ts'
import { endSubscription } from './end-subscription.ts'
import type { InvoicePlan } from './new-invoice.ts'
import { subscriptionOf } from './owner.ts'
import { chargeNow } from './settle-invoice.ts'

/** Invoices and charges at once; the subscription follows the outcome. */
export function collect(world: World, plan: InvoicePlan): Stripe.Invoice {
  const invoice = chargeNow(world, plan)
  followInvoice(world, invoice)
  return invoice
}

/** The status of the subscription after its invoice was paid, or was not. */
export function followInvoice(world: World, invoice: Stripe.Invoice): void {
  const row = subscriptionOf(world, invoice)
  if (row === null || row.status === 'canceled') return
  const status = statusAfter(row, invoice)
  const { subscriptions } = world.state.tables
  const changes = { latest_invoice: invoice.id, status }
  const told = status === row.status ? null : 'customer.subscription.updated'
  const next = changeRow(world, subscriptions, { row, changes }, told)
  if (isGivenUp(invoice)) endSubscription(world, next, 'payment_failed')
}

/** Stores the newest invoice without telling: its own events do. */
export function rememberInvoice(world: World, id: string, invoice: Stripe.Invoice): void {
  const { subscriptions } = world.state.tables
  const row = getRow(subscriptions, id, 'subscription')
  changeRow(world, subscriptions, { row, changes: { latest_invoice: invoice.id } }, null)
}

function statusAfter(
  { status }: Stripe.Subscription,
  invoice: Stripe.Invoice,
): Stripe.Subscription.Status {
  if (invoice.status === 'paid') return status === 'trialing' ? status : 'active'
  return status === 'incomplete' ? status : 'past_due'
}

function isGivenUp({ status, attempted, next_payment_attempt, billing_reason }: Stripe.Invoice) {
  const isOver = status === 'open' && attempted && next_payment_attempt === null
  return isOver && billing_reason !== 'subscription_create'
}
