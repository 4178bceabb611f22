import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage, listRoute } from '../http/list.ts'
import { Page, Text, withOptional } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { addRow, changeRow, getRow, rowsOf, type World } from '../world.ts'

const PaymentsParams = withOptional(
  {
    payment: v.strictObject({ type: v.literal('payment_intent'), payment_intent: Text }),
  },
  Page.entries,
)

export const reversalRoutes: readonly Route[] = [
  listRoute('/v1/charges', 'charges', { customer: Text }),
  listRoute('/v1/disputes', 'disputes', { charge: Text }),
  route('GET /v1/charges/:id', Nothing, ({ world, id }) => getRow(world, 'charges', id)),
  route('GET /v1/disputes/:id', Nothing, ({ world, id }) => getRow(world, 'disputes', id)),
  route('GET /v1/invoice_payments', PaymentsParams, ({ world, params }) => {
    const { payment_intent } = params.payment
    const rows = rowsOf(world, 'invoicePayments').filter(
      ({ payment }) => payment.payment_intent === payment_intent,
    )
    return listPage('/v1/invoice_payments', rows, params)
  }),
]

export function refundInvoice(world: World, id: string, amount?: number): Stripe.Charge {
  const charge = chargeOf(world, id)
  const rest = charge.amount - charge.amount_refunded
  const part = amount ?? rest
  if (part <= 0 || part > rest) {
    throw badRequest('Refund amount is not in the unrefunded amount on charge', { param: 'amount' })
  }
  const refunded = charge.amount_refunded + part
  const changes = { amount_refunded: refunded, refunded: refunded === charge.amount }
  return changeRow(world, charge, changes, 'charge.refunded')
}

export function disputeInvoice(world: World, id: string): Stripe.Dispute {
  const charge = changeRow(world, chargeOf(world, id), { disputed: true })
  const dispute = newObject<Stripe.Dispute>(world, {
    id: newId('du'),
    object: 'dispute',
    amount: charge.amount,
    charge: charge.id,
    currency: charge.currency,
    payment_intent: String(charge.payment_intent),
    reason: 'fraudulent',
    status: 'needs_response',
  })
  return addRow(world, 'disputes', dispute, 'charge.dispute.created')
}

export function closeDispute(world: World, id: string, status: 'won' | 'lost'): Stripe.Dispute {
  return changeRow(world, getRow(world, 'disputes', id), { status }, 'charge.dispute.closed')
}

/** The charge that paid the invoice. The double creates it at the first refund or dispute. */
function chargeOf(world: World, id: string): Stripe.Charge {
  const { amount_paid: amount, currency, customer } = getRow(world, 'invoices', id)
  const known = rowsOf(world, 'invoicePayments').find(({ invoice }) => invoice === id)
  const charges = rowsOf(world, 'charges')
  const charge = charges.find((row) => row.payment_intent === known?.payment.payment_intent)
  if (charge !== undefined) return charge
  if (amount === 0) throw badRequest('The invoice has no payment')
  const payment = newId('pi')
  const made = newObject<Stripe.InvoicePayment>(world, {
    id: newId('inpay'),
    object: 'invoice_payment',
    amount_paid: amount,
    amount_requested: amount,
    currency,
    invoice: id,
    payment: { type: 'payment_intent', payment_intent: payment },
    status: 'paid',
  })
  addRow(world, 'invoicePayments', made)
  const row = newObject<Stripe.Charge>(world, {
    id: newId('ch'),
    object: 'charge',
    amount,
    amount_captured: amount,
    amount_refunded: 0,
    currency,
    customer: String(customer),
    disputed: false,
    payment_intent: payment,
    refunded: false,
    status: 'succeeded',
  })
  return addRow(world, 'charges', row)
}
