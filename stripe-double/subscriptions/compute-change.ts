import type Stripe from 'stripe'
import { type Period, periodOf } from '../billing/period.ts'
import { usageLines } from '../billing/period-lines.ts'
import { prorationLines, trialLines } from '../billing/proration.ts'
import { toList } from '../http/list.ts'
import { badRequest } from '../http/stripe-error.ts'
import { isMetered } from '../resources/catalog/prices.ts'
import type { World } from '../world.ts'
import type { ChangeParam, ItemParam, ProrationParams } from './change-params.ts'
import { computeItems, itemsAfter } from './compute-items.ts'
import { inPeriod, periodAfter, requireOneInterval } from './restart-period.ts'

export type SubscriptionChange = ReturnType<typeof computeChange>

/** Computes the effect of a change of items, which previews show and updates apply. */
export function computeChange(
  world: World,
  subscription: Stripe.Subscription,
  params: Pick<ChangeParam, 'items' | keyof typeof ProrationParams>,
) {
  const { items: itemParams = [], proration_behavior: behavior } = params
  const { proration_date: date = world.now() } = params
  const current = periodOf(subscription)
  requireWithin(date, current)
  const { period, anchor } = periodAfter(world, subscription, params)
  const removed = removedItems(subscription, itemParams)
  const items = subscription.items.data.filter((item) => !removed.includes(item))
  const kept = itemParams.filter(({ deleted }) => deleted !== true)
  const changes = computeItems(world, kept, { subscription: subscription.id, period, items })
  const trialEnd = params.trial_end === undefined ? undefined : world.now()
  const isTrial = subscription.status === 'trialing' && trialEnd === undefined
  const linesFor = isTrial ? trialLines : prorationLines
  const prorations = behavior === 'none' ? [] : linesFor(world, changes, { period, date })
  // In flexible billing mode, what a removed item has counted is billed, unless there are no prorations.
  const last = { customer: subscription.customer, items: toList('', removed) }
  const until = { start: current.start, end: world.now() + 1 }
  const counted = behavior === 'none' ? [] : usageLines(world, last, until)
  const used = counted.filter(({ quantity }) => quantity !== 0)
  const pending = [...(world.state.pendingLines.get(subscription.id) ?? []), ...used]
  const after = itemsAfter(items, changes).map((item) => inPeriod(item, period))
  requireOneInterval(after)
  return {
    items: after,
    /** When the new period begins; undefined if the change begins none. */
    anchor,
    /** When the change ends the trial; undefined if it does not. */
    trialEnd,
    /** Includes the lines that already wait for the next invoice. */
    lines: [...pending, ...prorations],
    prorations,
    period,
    /** Whether the lines are charged now, not with the next renewal. */
    isInvoicedNow: behavior === 'always_invoice' && itemParams.length > 0,
  }
}

function removedItems(
  { items }: Stripe.Subscription,
  params: readonly ItemParam[],
): Stripe.SubscriptionItem[] {
  const ids = params.filter(({ deleted }) => deleted === true).map(({ id }) => id)
  const removed = items.data.filter(({ id }) => ids.includes(id))
  if (removed.length < ids.length) throw badRequest('No such subscription item')
  if (removed.every(({ price }) => isMetered(price))) return removed
  throw badRequest('The double removes only metered items.', { param: 'items' })
}

function requireWithin(date: number, { start, end }: Period): void {
  if (date >= start && date <= end) return
  throw badRequest('The proration date must be within the current period of the subscription', {
    param: 'proration_date',
  })
}
