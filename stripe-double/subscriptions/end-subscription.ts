import type Stripe from 'stripe'
import { periodOf } from '../billing/period.ts'
import { usageLines } from '../billing/period-lines.ts'
import { unusedTimeLines } from '../billing/proration.ts'
import { chargeLater, chargeNow } from '../billing/settle-invoice.ts'
import { changeRow, emit, getRow, type World } from '../world.ts'
import { discardPending } from './pending-update.ts'

/**
 * Ends the subscription now. A last invoice bills the remaining usage: after an hour or, if the unused
 * time is credited, at once together with the credit.
 */
export function endSubscription(
  world: World,
  row: Stripe.Subscription,
  rest: 'kept' | 'credited' = 'kept',
): Stripe.Subscription {
  const now = world.now()
  discardPending(world, row.id)
  const changes = {
    status: 'canceled',
    canceled_at: row.canceled_at ?? now,
    ended_at: now,
  } as const
  const ended = changeRow(world, getRow(world, 'subscriptions', row.id), changes)
  emit(world, 'customer.subscription.deleted', ended)
  billRest(world, ended, rest)
  return getRow(world, 'subscriptions', row.id)
}

/** Ends a subscription that was never paid for, without a `deleted` event. */
export function expireIncomplete(world: World, row: Stripe.Subscription): void {
  const changes = { status: 'incomplete_expired', ended_at: world.now() } as const
  changeRow(world, row, changes, 'customer.subscription.updated')
}

function billRest(
  world: World,
  subscription: Stripe.Subscription,
  rest: 'kept' | 'credited',
): void {
  const whole = periodOf(subscription)
  const period = { start: whole.start, end: world.now() }
  const credit = rest === 'credited' ? unusedTimeLines(world, subscription) : []
  const usage = usageLines(world, subscription, period)
  const pending = world.state.pendingLines.get(subscription.id) ?? []
  world.state.pendingLines.delete(subscription.id)
  const lines = [...pending, ...usage, ...credit]
  if (lines.length === 0) return
  const plan = { subscription, lines, period, reason: 'subscription_cycle' } as const
  const charge = rest === 'credited' ? chargeNow : chargeLater
  const latest_invoice = charge(world, plan).id
  changeRow(world, subscription, { latest_invoice })
}
