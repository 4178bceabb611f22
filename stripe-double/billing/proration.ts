import type Stripe from 'stripe'
import { isMetered } from '../resources/catalog/prices.ts'
import type { ItemChange } from '../subscriptions/compute-items.ts'
import type { World } from '../world.ts'
import { amountOf, nameOf, newLine } from './lines.ts'
import type { Period } from './period.ts'

interface ChangeTime {
  readonly period: Period
  /** When the new items take effect, in seconds since 1970. */
  readonly date: number
}

/**
 * Credits the unused time of the old items and charges the rest of the period for the new ones, to
 * the second. Credits are computed from the discounted charge (flexible billing mode).
 */
export function prorationLines(
  world: World,
  changes: readonly ItemChange[],
  time: ChangeTime,
): Stripe.InvoiceLineItem[] {
  return changes
    .filter(isRepriced)
    .flatMap((change) => [...creditLines(world, change, time), ...chargeLines(world, change, time)])
}

/** In flexible billing mode, a change in a trial has a line of nothing for each new price. */
export function trialLines(
  world: World,
  changes: readonly ItemChange[],
  { period, date }: ChangeTime,
): Stripe.InvoiceLineItem[] {
  return changes.filter(isRepriced).map(({ after }) => {
    const description = `Free trial for ${after.quantity ?? 1} × ${nameOf(world, after.price)}`
    const time = { start: date, end: period.end }
    return newProrationLine(world, after, { amount: 0, description, period: time })
  })
}

/** Credits the rest of the period for all items. */
export function unusedTimeLines(
  world: World,
  { items }: Stripe.Subscription,
): Stripe.InvoiceLineItem[] {
  const time = { date: world.now() }
  return items.data.flatMap((before) => creditLines(world, { before }, time))
}

function isRepriced({ before, after }: ItemChange): boolean {
  return before?.price.id !== after.price.id || before.quantity !== after.quantity
}

/** Stripe credits each charge for the time that it covers. */
function creditLines(
  world: World,
  { before }: Pick<ItemChange, 'before'>,
  { date }: Pick<ChangeTime, 'date'>,
): Stripe.InvoiceLineItem[] {
  if (before === undefined) return []
  const description = `Unused time on ${nameOf(world, before.price)}`
  return (world.state.debits.get(before.id) ?? []).flatMap((debit) => {
    const period = { start: Math.max(date, debit.start), end: debit.until }
    const share = (period.end - period.start) / (debit.end - debit.start)
    const amount = -Math.round(debit.net * share)
    return amount < 0 ? [newProrationLine(world, before, { amount, description, period })] : []
  })
}

function chargeLines(world: World, { after }: ItemChange, { period, date }: ChangeTime) {
  if (isMetered(after.price)) return []
  const quantity = after.quantity ?? 1
  const share = (period.end - date) / (period.end - period.start)
  const amount = Math.round(amountOf(world, after, quantity) * share)
  const time = date === period.start ? `${quantity} ×` : 'Remaining time on'
  const description = `${time} ${nameOf(world, after.price)}`
  return [
    newProrationLine(world, after, {
      amount,
      description,
      period: { start: date, end: period.end },
    }),
  ]
}

function newProrationLine(
  world: World,
  item: Stripe.SubscriptionItem,
  line: { amount: number; description: string; period: Period },
): Stripe.InvoiceLineItem {
  return newLine(world, { ...line, item, quantity: item.quantity ?? 1, proration: true })
}
