import type Stripe from 'stripe'
import { type Period, periodEnd, periodOf } from '../billing/period.ts'
import { badRequest } from '../http/stripe-error.ts'
import { getRow, type World } from '../world.ts'
import type { ChangeParam } from './change-params.ts'

type Params = Pick<ChangeParam, 'items' | 'billing_cycle_anchor' | 'proration_date' | 'trial_end'>

/**
 * The period after the change, and the new billing cycle anchor, if it gets one: `billing_cycle_anchor`
 * and the end of the trial restart the period now. In flexible billing mode, another interval alone
 * does not: the first longer period has begun when the current one did. A trial goes on.
 */
export function periodAfter(
  world: World,
  row: Stripe.Subscription,
  params: Params,
): { readonly period: Period; readonly anchor?: number } {
  const { items = [], billing_cycle_anchor: anchor, proration_date, trial_end } = params
  const current = periodOf(row)
  const price = items.map((item) => item.price).find((id) => id !== undefined)
  const next = price === undefined ? null : getRow(world, 'prices', price, 'items').recurring
  const isOther = next !== null && next.interval !== row.items.data[0]?.price.recurring?.interval
  const isRestarted = anchor !== undefined || trial_end !== undefined
  if ((!isOther && !isRestarted) || keepsTrial(row, params)) return { period: current }
  if (next === null || proration_date !== undefined) {
    throw badRequest('The double restarts a period only now, and with a change of the price.')
  }
  const now = world.now()
  if (isRestarted) return { period: { start: now, end: periodEnd(now, now, next) }, anchor: now }
  if (next.interval !== 'year') throw badRequest('The double goes back to the month only now.')
  return { period: { ...current, end: periodEnd(current.start, current.start, next) } }
}

/** Whether the subscription is a trial before and after the change. */
function keepsTrial(
  { status }: Stripe.Subscription,
  { billing_cycle_anchor: anchor, trial_end }: Params,
): boolean {
  const isTrial = status === 'trialing'
  if (trial_end !== undefined && isTrial) return false
  if (trial_end !== undefined) throw badRequest('The double ends only a trial that goes on.')
  if (!isTrial || anchor === undefined) return isTrial
  throw badRequest('The double does not restart the period of a trial.')
}

/** Throws unless all items are paid equally often. */
export function requireOneInterval(items: readonly Stripe.SubscriptionItem[]): void {
  const intervals = new Set(items.map(({ price }) => price.recurring?.interval))
  if (intervals.size <= 1) return
  throw badRequest('The double does not support prices with different intervals in a subscription.')
}

export function inPeriod(
  item: Stripe.SubscriptionItem,
  { start, end }: Period,
): Stripe.SubscriptionItem {
  return { ...item, current_period_start: start, current_period_end: end }
}
