import type Stripe from 'stripe'
import { actionRequired, badRequest, declined } from '../http/stripe-error.ts'
import { discardPending } from '../subscriptions/pending-update.ts'
import { getRow, type World } from '../world.ts'
import type { Payment } from './charge-card.ts'
import { applyPayment } from './collect.ts'
import { chargeInvoice, recordCharge, subscriptionOf, voidInvoice } from './settle-invoice.ts'

/** Pays the invoice and updates its subscription. Throws Stripe's 402 if the charge fails. */
export function payOpenInvoice(
  world: World,
  row: Stripe.Invoice,
  payment: Partial<Payment>,
): Stripe.Invoice {
  if (row.status === 'paid') throw badRequest('Invoice is already paid')
  if (row.status !== 'open') throw badRequest('This invoice is not open.')
  const outcome = chargeInvoice(world, row, payment)
  if (outcome === 'requires-action') throw actionRequired('invoice')
  if (outcome === 'declined') throw declined()
  applyPayment(world, recordCharge(world, row, outcome))
  return getRow(world, 'invoices', row.id)
}

/** Makes the invoice void. A change that waits for its payment is discarded. */
export function voidOpenInvoice(world: World, row: Stripe.Invoice): Stripe.Invoice {
  if (row.status !== 'open') {
    throw badRequest('You can only pass in open invoices. This invoice is not open.')
  }
  const subscription = subscriptionOf(world, row)
  const pending = subscription && world.state.pendingChanges.get(subscription.id)
  if (subscription === null || pending?.invoice !== row.id) return voidInvoice(world, row)
  discardPending(world, subscription.id)
  return getRow(world, 'invoices', row.id)
}
