import type Stripe from 'stripe'
import { changeRow, emit, type World } from '../world.ts'
import { periodOf } from './period.ts'
import { usageLines } from './period-lines.ts'
import { chargeLater } from './settle-invoice.ts'

type Reason = 'cancellation_requested' | 'payment_failed'

/** Ends it now. Usage that is not billed yet comes on a last invoice, an hour later. */
export function endSubscription(
  world: World,
  row: Stripe.Subscription,
  reason: Reason,
): Stripe.Subscription {
  const { subscriptions } = world.state.tables
  const details = row.cancellation_details
  const changes = {
    status: 'canceled',
    canceled_at: row.canceled_at ?? world.now(),
    cancellation_details: {
      comment: details?.comment ?? null,
      feedback: details?.feedback ?? null,
      feedback_option: null,
      reason: details?.reason ?? reason,
    },
    ended_at: world.now(),
  }
  const ended = changeRow(world, subscriptions, { row, changes }, null)
  emit(world, 'customer.subscription.deleted', ended)
  billRest(world, ended)
  return subscriptions.get(row.id) ?? ended
}

/** What was never paid for: it ends without a trace of a canceled subscription. */
export function expireIncomplete(world: World, row: Stripe.Subscription): void {
  const changes = { status: 'incomplete_expired', ended_at: world.now() }
  const { subscriptions } = world.state.tables
  changeRow(world, subscriptions, { row, changes }, 'customer.subscription.updated')
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
  const { subscriptions } = world.state.tables
  changeRow(world, subscriptions, { row: subscription, changes: { latest_invoice } }, null)
}
