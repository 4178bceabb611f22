import type Stripe from 'stripe'
import { periodOf } from '../billing/period.ts'
import { usageLines } from '../billing/period-lines.ts'
import { chargeLater } from '../billing/settle-invoice.ts'
import { changeRow, emit, getRow, type World } from '../world.ts'
import { discardPending } from './pending-update.ts'

/** Ends the subscription now. A last invoice bills the remaining usage after an hour. */
export function endSubscription(world: World, row: Stripe.Subscription): Stripe.Subscription {
  const now = world.now()
  discardPending(world, row.id)
  const changes = {
    status: 'canceled',
    canceled_at: row.canceled_at ?? now,
    ended_at: now,
  } as const
  const ended = changeRow(world, getRow(world, 'subscriptions', row.id), changes)
  emit(world, 'customer.subscription.deleted', ended)
  billRest(world, ended)
  return getRow(world, 'subscriptions', row.id)
}

/** Ends a subscription that was never paid for, without a `deleted` event. */
export function expireIncomplete(world: World, row: Stripe.Subscription): void {
  const changes = { status: 'incomplete_expired', ended_at: world.now() } as const
  changeRow(world, row, changes, 'customer.subscription.updated')
}

function billRest(world: World, subscription: Stripe.Subscription): void {
  const period = { start: periodOf(subscription).start, end: world.now() }
  const usage = usageLines(world, subscription, period)
  const pending = world.state.pendingLines.get(subscription.id) ?? []
  world.state.pendingLines.delete(subscription.id)
  if (usage.length + pending.length === 0) return
  const lines = [...pending, ...usage]
  const plan = { subscription, lines, period, reason: 'subscription_cycle' } as const
  const latest_invoice = chargeLater(world, plan).id
  changeRow(world, subscription, { latest_invoice })
}
