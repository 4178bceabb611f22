import Stripe from 'stripe'
import { newId } from '../ids.ts'
import type { World } from '../world.ts'
import { activeDiscounts, discountAmounts } from './discounts.ts'
import type { Period } from './period.ts'

interface LinePlan {
  readonly item: Stripe.SubscriptionItem
  readonly amount: number
  readonly quantity: number
  readonly period: Period
  readonly description: string
  readonly proration: boolean
}

/** One line of an invoice that is still to be made. */
export function newLine(plan: LinePlan): Stripe.InvoiceLineItem {
  const { item, amount, quantity, period, description, proration } = plan
  const { price } = item
  return {
    id: newId('il'),
    object: 'line_item',
    amount,
    currency: price.currency,
    description,
    discount_amounts: [],
    discountable: amount > 0,
    discounts: [],
    invoice: null,
    livemode: false,
    metadata: {},
    parent: {
      type: 'subscription_item_details',
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: proration ? newId('ii') : null,
        proration,
        proration_details: { credited_items: null },
        subscription: item.subscription,
        subscription_item: item.id,
      },
    },
    period: { start: period.start, end: period.end },
    pretax_credit_amounts: [],
    pricing: {
      type: 'price_details',
      price_details: { price: price.id, product: String(price.product) },
      unit_amount_decimal: price.unit_amount_decimal,
    },
    quantity,
    quantity_decimal: Stripe.Decimal.from(quantity),
    subscription: item.subscription,
    subtotal: amount,
    taxes: [],
  }
}

/** The lines with what the discounts of the subscription take off. */
export function withDiscounts(
  world: World,
  lines: readonly Stripe.InvoiceLineItem[],
  discountIds: readonly string[],
): Stripe.InvoiceLineItem[] {
  const discounts = activeDiscounts(world, discountIds)
  const amounts = lines.map((line) => (line.discountable ? line.amount : 0))
  const taken = discountAmounts(world, discounts, amounts)
  return lines.map((line, index) => ({ ...line, discount_amounts: taken[index] ?? [] }))
}

export function netOf({ amount, discount_amounts }: Stripe.InvoiceLineItem): number {
  return (discount_amounts ?? []).reduce((net, discount) => net - discount.amount, amount)
}

/** The amount for `quantity` units, in the smallest unit of the currency. */
export function priceOf(price: Stripe.Price, quantity: number): number {
  const unit = price.unit_amount_decimal?.toNumber() ?? 0
  return Math.round(unit * quantity)
}

export function nameOf(world: World, price: Stripe.Price): string {
  return world.state.tables.products.get(String(price.product))?.name ?? price.id
}
