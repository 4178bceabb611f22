import type Stripe from 'stripe'
import { isMetered } from '../resources/prices.ts'
import type { World } from '../world.ts'
import { nameOf, newLine, priceOf } from './lines.ts'
import type { Period } from './period.ts'
import { usageLine } from './period-lines.ts'
import type { ItemChange } from './plan-items.ts'

interface Moment {
  readonly subscription: Stripe.Subscription
  readonly period: Period
  /** Seconds since 1970: from then on the new items hold. */
  readonly date: number
}

/**
 * Credits for the unused time of what was paid, and charges for the rest of the period, to the
 * second. Credits come from what was really charged, discounts included (flexible billing mode).
 */
export function prorationLines(
  world: World,
  changes: readonly ItemChange[],
  moment: Moment,
): Stripe.InvoiceLineItem[] {
  if (moment.subscription.status === 'trialing') return []
  return changes
    .filter((change) => isRepriced(change))
    .flatMap((change) => [
      ...creditLines(world, change, moment),
      ...chargeLines(world, change, moment),
    ])
}

/** What metered items that go used until now: it is billed with the next invoice. */
export function leftUsageLines(
  world: World,
  changes: readonly ItemChange[],
  { subscription, period, date }: Moment,
): Stripe.InvoiceLineItem[] {
  const customer = String(subscription.customer)
  const used = { start: period.start, end: date }
  return changes.flatMap(({ before, after, clearUsage }) => {
    if (before === undefined || after?.price.id === before.price.id) return []
    if (!isMetered(before.price) || clearUsage === true) return []
    const line = usageLine(world, before, { customer, period: used })
    return line.amount === 0 ? [] : [line]
  })
}

function isRepriced({ before, after }: ItemChange): boolean {
  return before?.price.id !== after?.price.id || before?.quantity !== after?.quantity
}

function creditLines(world: World, { before }: ItemChange, { period, date }: Moment) {
  const debit = before === undefined ? undefined : world.state.debits.get(before.id)
  if (before === undefined || debit === undefined) return []
  const share = (debit.end - date) / (debit.end - debit.start)
  const amount = -Math.round(debit.net * share)
  if (amount === 0) return []
  const description = `Unused time on ${nameOf(world, before.price)}`
  const rest = { start: date, end: period.end }
  const quantity = before.quantity ?? 1
  return [newLine({ item: before, amount, quantity, period: rest, description, proration: true })]
}

function chargeLines(world: World, { after }: ItemChange, { period, date }: Moment) {
  if (after === undefined || isMetered(after.price)) return []
  const quantity = after.quantity ?? 1
  const share = (period.end - date) / (period.end - period.start)
  const amount = Math.round(priceOf(after.price, quantity) * share)
  const description = `Remaining time on ${nameOf(world, after.price)}`
  const rest = { start: date, end: period.end }
  return [newLine({ item: after, amount, quantity, period: rest, description, proration: true })]
}
