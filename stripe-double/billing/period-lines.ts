import type Stripe from 'stripe'
import { usageOf } from '../resources/meters.ts'
import { isMetered } from '../resources/prices.ts'
import type { Debit } from '../state.ts'
import type { World } from '../world.ts'
import { nameOf, netOf, newLine, priceOf, withDiscounts } from './lines.ts'
import type { Period } from './period.ts'

/** What licensed items cost for `period`, in advance. */
export function advanceLines(
  world: World,
  items: readonly Stripe.SubscriptionItem[],
  period: Period,
): Stripe.InvoiceLineItem[] {
  return items
    .filter(({ price }) => !isMetered(price))
    .map((item) => {
      const quantity = item.quantity ?? 1
      const description = `${quantity} × ${nameOf(world, item.price)}`
      const amount = priceOf(item.price, quantity)
      return newLine({ item, amount, quantity, period, description, proration: false })
    })
}

/** What metered items cost for the usage of `period`; usage before an item came does not count. */
export function usageLines(
  world: World,
  { customer, items }: Pick<Stripe.Subscription, 'customer' | 'items'>,
  period: Period,
): Stripe.InvoiceLineItem[] {
  return items.data
    .filter(({ price }) => isMetered(price))
    .map((item) => usageLine(world, item, { customer: String(customer), period }))
}

export function usageLine(
  world: World,
  item: Stripe.SubscriptionItem,
  { customer, period }: { customer: string; period: Period },
): Stripe.InvoiceLineItem {
  const meter = world.state.tables.meters.get(item.price.recurring?.meter ?? '')
  const start = Math.max(period.start, item.created)
  const quantity =
    meter === undefined ? 0 : usageOf(world, meter, { customer, start, end: period.end })
  const description = `${quantity} × ${nameOf(world, item.price)}`
  const amount = priceOf(item.price, quantity)
  return newLine({ item, amount, quantity, period, description, proration: false })
}

/** What each item is charged for by these lines: the base of later credits. */
export function debitsOf(
  world: World,
  lines: readonly Stripe.InvoiceLineItem[],
  discountIds: readonly string[],
): Map<string, Debit> {
  const debits = new Map<string, Debit>()
  for (const line of withDiscounts(world, lines, discountIds)) {
    const id = line.parent?.subscription_item_details?.subscription_item
    if (id === undefined || line.amount < 0) continue
    debits.set(id, { net: netOf(line), ...line.period })
  }
  return debits
}
