import type Stripe from 'stripe'
import { isMetered } from '../resources/catalog/prices.ts'
import { usageOf } from '../resources/meters.ts'
import type { World } from '../world.ts'
import { amountOf, nameOf, netOf, newLine, withDiscounts } from './lines.ts'
import type { Period } from './period.ts'

/** Lines that charge licensed items for `period` in advance. */
export function advanceLines(
  world: World,
  items: readonly Stripe.SubscriptionItem[],
  period: Period,
): Stripe.InvoiceLineItem[] {
  return items
    .filter(({ price }) => !isMetered(price))
    .map((item) => quantityLine(world, item, { quantity: item.quantity ?? 1, period }))
}

/** Lines that charge metered items for the usage of `period` since each item was added. */
export function usageLines(
  world: World,
  { customer, items }: Pick<Stripe.Subscription, 'customer' | 'items'>,
  period: Period,
): Stripe.InvoiceLineItem[] {
  return items.data
    .filter(({ price }) => isMetered(price))
    .map((item) => usageLine(world, item, { customer: String(customer), period }))
}

function usageLine(
  world: World,
  item: Stripe.SubscriptionItem,
  { customer, period }: { customer: string; period: Period },
): Stripe.InvoiceLineItem {
  const meter = world.state.tables.meters.get(item.price.recurring?.meter ?? '')
  const invoiced = world.state.usageInvoiced.get(item.id) ?? 0
  const start = Math.max(period.start, item.created, invoiced)
  const quantity =
    meter === undefined ? 0 : usageOf(world, meter, { customer, start, end: period.end })
  return quantityLine(world, item, { quantity, period })
}

function quantityLine(
  world: World,
  item: Stripe.SubscriptionItem,
  { quantity, period }: { quantity: number; period: Period },
): Stripe.InvoiceLineItem {
  const description = `${quantity} × ${nameOf(world, item.price)}`
  const amount = amountOf(world, item, quantity)
  return newLine(world, { item, amount, quantity, period, description, proration: false })
}

/** Records what these lines charge for each item, because later credits depend on it. */
export function recordDebits(
  world: World,
  lines: readonly Stripe.InvoiceLineItem[],
  discountIds: readonly string[],
): void {
  for (const line of withDiscounts(world, lines, discountIds)) {
    const id = line.parent?.subscription_item_details?.subscription_item
    if (id === undefined || line.amount < 0) continue
    const { start, end } = line.period
    const earlier = (world.state.debits.get(id) ?? [])
      .filter((debit) => debit.start < start)
      .map((debit) => ({ ...debit, until: Math.min(debit.until, start) }))
    world.state.debits.set(id, [...earlier, { net: netOf(line), start, end, until: end }])
  }
}
