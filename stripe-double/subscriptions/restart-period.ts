import type Stripe from 'stripe'
import { type Period, periodEnd } from '../billing/period.ts'
import { badRequest } from '../http/stripe-error.ts'
import { getRow, type World } from '../world.ts'
import type { ChangeParam } from './change-params.ts'

type Params = Pick<ChangeParam, 'items' | 'billing_cycle_anchor' | 'proration_date' | 'trial_end'>

/**
 * The period that a change begins: a price with another interval, `billing_cycle_anchor` or the end of
 * the trial restarts it now. null: the current period goes on, as it does in a trial.
 */
export function restartedPeriod(
  world: World,
  row: Stripe.Subscription,
  params: Params,
): Period | null {
  const { items = [], billing_cycle_anchor: anchor, proration_date, trial_end } = params
  const price = items.map((item) => item.price).find((id) => id !== undefined)
  const next = price === undefined ? null : getRow(world, 'prices', price, 'items').recurring
  const isOther = next !== null && next.interval !== row.items.data[0]?.price.recurring?.interval
  if (!isOther && anchor === undefined && trial_end === undefined) return null
  if (keepsTrial(row, params)) return null
  if (next === null || proration_date !== undefined) {
    throw badRequest('The double restarts a period only now, and with a change of the price.')
  }
  const now = world.now()
  return { start: now, end: periodEnd(now, now, next) }
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
