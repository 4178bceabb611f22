import type Stripe from 'stripe'
import { toList } from '../http/list.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { invoiceTax, sumTaxes, withTaxes } from '../tax/taxes.ts'
import { getRow, type World } from '../world.ts'
import { netOf, withDiscounts } from './lines.ts'
import type { Period } from './period.ts'

export interface InvoicePlan {
  readonly subscription: Stripe.Subscription
  readonly lines: readonly Stripe.InvoiceLineItem[]
  readonly reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update' | 'upcoming'
  readonly period: Period
}

/** Makes a draft with its totals, but does not store it. Previews use it too. */
export function newInvoice(world: World, plan: InvoicePlan): Stripe.Invoice {
  const { subscription, period, reason } = plan
  const customer = getRow(world, 'customers', String(subscription.customer))
  const id = reason === 'upcoming' ? newId('upcoming_in') : newId('in')
  return newObject<Stripe.Invoice>(world, {
    id,
    object: 'invoice',
    attempt_count: 0,
    attempted: false,
    automatic_tax: invoiceTax(world, subscription, reason === 'upcoming' ? 'preview' : 'invoice'),
    automatically_finalizes_at: null,
    amount_paid: 0,
    billing_reason: reason,
    currency: subscription.currency,
    customer: customer.id,
    discounts: subscription.discounts.map(String),
    ending_balance: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    next_payment_attempt: null,
    number: null,
    parent: {
      type: 'subscription_details',
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
    },
    period_start: period.start,
    period_end: period.end,
    starting_balance: customer.balance,
    status: 'draft',
    ...totalsOf(world, plan, { id, balance: customer.balance }),
  })
}

/** The discounted and taxed lines and their sums. A `balance` below zero is credit. */
export function totalsOf(
  world: World,
  { lines, subscription }: Pick<InvoicePlan, 'lines' | 'subscription'>,
  { id, balance }: { id: string; balance: number },
) {
  const discounted = withDiscounts(world, lines, subscription.discounts.map(String))
  const data = withTaxes(world, discounted, subscription, netOf).map((line) => ({
    ...line,
    invoice: id,
  }))
  const { added, contained, total_taxes } = sumTaxes(data)
  const subtotal = data.reduce((sum, line) => sum + line.amount, 0)
  const net = data.reduce((sum, line) => sum + netOf(line), 0)
  const total = net + added
  const due = Math.max(0, total + Math.min(0, balance))
  return {
    amount_due: due,
    amount_remaining: due,
    lines: toList(`/v1/invoices/${id}/lines`, data),
    subtotal,
    total,
    total_discount_amounts: sumByDiscount(data),
    total_excluding_tax: net - contained,
    total_taxes,
  }
}

function sumByDiscount(lines: readonly Stripe.InvoiceLineItem[]) {
  const sums = new Map<string, number>()
  for (const { amount, discount } of lines.flatMap((line) => line.discount_amounts ?? [])) {
    const id = String(discount)
    sums.set(id, (sums.get(id) ?? 0) + amount)
  }
  return [...sums].map(([discount, amount]) => ({ amount, discount }))
}
