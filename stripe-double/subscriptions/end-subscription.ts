import type Stripe from 'stripe'
import { periodOf } from '../billing/period.ts'
import { usageLines } from '../billing/period-lines.ts'
import { unusedTimeLines } from '../billing/proration.ts'
import { chargeLater, chargeNow, subscriptionOf } from '../billing/settle-invoice.ts'
import { changeRow, emit, getRow, rowsOf, type World } from '../world.ts'
import { discardPending } from './pending-update.ts'

/** What becomes of the usage that no invoice has yet, and of the time that is left. */
type Rest = 'discarded' | 'invoiced' | 'credited'

/**
 * Ends the subscription now. Unless the remaining usage is discarded, a last invoice bills it. Like other
 * unpaid invoices, it is no longer collected automatically.
 */
export function endSubscription(
  world: World,
  row: Stripe.Subscription,
  rest: Rest,
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
  if (rest !== 'discarded') billRest(world, ended, rest)
  stopCollection(world, ended.id)
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
  rest: Exclude<Rest, 'discarded'>,
): void {
  const whole = periodOf(subscription)
  // An event of this second counts as well.
  const period = { start: whole.start, end: Math.min(world.now() + 1, whole.end) }
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

function stopCollection(world: World, id: string): void {
  const stopped = {
    auto_advance: false,
    automatically_finalizes_at: null,
    next_payment_attempt: null,
  }
  for (const invoice of rowsOf(world, 'invoices')) {
    const isOpen = invoice.status === 'draft' || invoice.status === 'open'
    if (isOpen && subscriptionOf(world, invoice)?.id === id) changeRow(world, invoice, stopped)
  }
}
