import type Stripe from 'stripe'
import { toList } from '../http/list.ts'
import { newId } from '../ids.ts'
import { getCustomer } from '../resources/customers.ts'
import { taxIdsOf } from '../resources/tax-ids.ts'
import type { World } from '../world.ts'
import { BLANK_INVOICE } from './blank-invoice.ts'
import { netOf, withDiscounts } from './lines.ts'
import type { Period } from './period.ts'

export interface InvoicePlan {
  readonly subscription: Stripe.Subscription
  readonly lines: readonly Stripe.InvoiceLineItem[]
  readonly reason: 'subscription_create' | 'subscription_cycle' | 'subscription_update' | 'upcoming'
  readonly period: Period
}

/** A draft with its totals, not stored: previews and invoices are the same sums. */
export function newInvoice(world: World, plan: InvoicePlan): Stripe.Invoice {
  const { subscription, period, reason } = plan
  const customer = getCustomer(world, String(subscription.customer))
  const id = reason === 'upcoming' ? newId('upcoming_in') : newId('in')
  return {
    ...BLANK_INVOICE,
    created: world.now(),
    id,
    billing_reason: reason,
    currency: subscription.currency,
    customer: customer.id,
    customer_address: customer.address ?? null,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: customer.phone ?? null,
    customer_tax_exempt: customer.tax_exempt ?? null,
    customer_tax_ids: taxIdsOf(world, customer.id).map(({ type, value }) => ({ type, value })),
    discounts: [...subscription.discounts],
    parent: {
      type: 'subscription_details',
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
    },
    period_start: period.start,
    period_end: period.end,
    starting_balance: customer.balance,
    ...totalsOf(world, plan, { id, balance: customer.balance }),
  }
}

/** The lines with discounts and the sums over them; `balance` below zero is credit. */
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
    subtotal_excluding_tax: subtotal,
    total,
    total_excluding_tax: total,
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
