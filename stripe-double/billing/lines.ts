import Stripe from 'stripe'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import type { World } from '../world.ts'
import { activeDiscounts, discountAmounts } from './discounts.ts'
import type { Period } from './period.ts'

interface NewLine {
  readonly item: Stripe.SubscriptionItem
  readonly amount: number
  readonly quantity: number
  readonly period: Period
  readonly description: string
  readonly proration: boolean
}

/** Makes a line that does not belong to an invoice yet. */
export function newLine(world: World, line: NewLine): Stripe.InvoiceLineItem {
  const { item, amount, quantity, period, description, proration } = line
  return newObject<Stripe.InvoiceLineItem>(world, {
    id: newId('il'),
    object: 'line_item',
    amount,
    currency: currencyOf(world, item),
    description,
    discount_amounts: [],
    discountable: amount > 0,
    invoice: null,
    parent: {
      type: 'subscription_item_details',
      subscription_item_details: {
        proration,
        subscription: item.subscription,
        subscription_item: item.id,
      },
    },
    period: { start: period.start, end: period.end },
    pricing: {
      type: 'price_details',
      price_details: { price: item.price.id, product: String(item.price.product) },
    },
    quantity,
    subtotal: amount,
  })
}

/** Sets the amounts that the discounts take off each line. */
export function withDiscounts(
  world: World,
  lines: readonly Stripe.InvoiceLineItem[],
  discountIds: readonly string[],
): Stripe.InvoiceLineItem[] {
  const discounts = activeDiscounts(world, discountIds)
  const taken = discountAmounts(world, discounts, lines)
  return lines.map((line, index) => ({ ...line, discount_amounts: taken[index] ?? [] }))
}

export function netOf({ amount, discount_amounts }: Stripe.InvoiceLineItem): number {
  return (discount_amounts ?? []).reduce((net, discount) => net - discount.amount, amount)
}

/** The amount for `quantity` units of the item, in the currency of its subscription. */
export function amountOf(world: World, item: Stripe.SubscriptionItem, quantity: number): number {
  return priceIn(world, item.price, { quantity, currency: currencyOf(world, item) })
}

/** The amount for `quantity` units, in the smallest unit of the currency, rounded half up. */
export function priceIn(
  world: World,
  price: Stripe.Price,
  { quantity, currency }: { quantity: number; currency: string },
): number {
  const option = world.state.currencyOptions.get(price.id)?.[currency] ?? price
  const unit = option.unit_amount_decimal ?? Stripe.Decimal.zero
  const amount = unit.mul(Stripe.Decimal.from(quantity))
  return amount.round('half-up', { mode: 'decimal-places', value: 0 }).toNumber()
}

function currencyOf(world: World, { price, subscription }: Stripe.SubscriptionItem): string {
  return world.state.currencies.get(subscription) ?? price.currency
}

export function nameOf(world: World, price: Stripe.Price): string {
  return world.state.tables.products.get(String(price.product))?.name ?? price.id
}
