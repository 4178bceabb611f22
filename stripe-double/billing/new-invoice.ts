import type Stripe from 'stripe'
import { toList } from '../http/list.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
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

/** The discounted lines and their sums. A `balance` below zero is credit. */
export function totalsOf(
  world: World,
  { lines, subscription }: Pick<InvoicePlan, 'lines' | 'subscription'>,
  { id, balance }: { id: string; balance: number },
) {
  const data = withDiscounts(world, lines, subscription.discounts.map(String)).map((line) => ({
    ...line,
    invoice: id,
  }))
  const subtotal = data.reduce((sum, line) => sum + line.amount, 0)
  const total = data.reduce((sum, line) => sum + netOf(line), 0)
  const due = Math.max(0, total + Math.min(0, balance))
  return {
    amount_due: due,
    amount_remaining: due,
    lines: toList(`/v1/invoices/${id}/lines`, data),
    subtotal,
    total,
    total_discount_amounts: sumByDiscount(data),
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
