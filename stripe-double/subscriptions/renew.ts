import type Stripe from 'stripe'
import { toList } from '../http/list.ts'
import { changeRow, type World } from '../world.ts'
import { rememberInvoice } from './collect.ts'
import { type Period, periodEnd, periodOf } from './period.ts'
import { advanceLines, debitsOf, usageLines } from './period-lines.ts'
import { chargeLater } from './settle-invoice.ts'

/** The next period begins: usage of the last one and the next in advance come on a draft. */
export function renew(world: World, row: Stripe.Subscription): void {
  const wasTrial = row.status === 'trialing'
  const last = wasTrial ? { start: periodOf(row).start, end: world.now() } : periodOf(row)
  const anchor = wasTrial ? world.now() : row.billing_cycle_anchor
  const next = { start: last.end, end: periodEnd(anchor, last.end, recurringOf(row)) }
  const items = row.items.data.map((item) => inPeriod(item, next))
  const lines = [
    ...(world.state.pendingLines.get(row.id) ?? []),
    ...usageLines(world, row, last),
    ...advanceLines(world, items, next),
  ]
  world.state.pendingLines.delete(row.id)
  const discounts = row.discounts.map(String)
  for (const [item, debit] of debitsOf(world, lines, discounts)) world.state.debits.set(item, debit)
  const changes = {
    billing_cycle_anchor: anchor,
    items: toList(row.items.url, items),
    ...(wasTrial && { status: 'active', trial_end: world.now() }),
  }
  const { subscriptions } = world.state.tables
  const subscription = changeRow(
    world,
    subscriptions,
    { row, changes },
    'customer.subscription.updated',
  )
  const plan = { subscription, lines, period: last, reason: 'subscription_cycle' } as const
  rememberInvoice(world, row.id, chargeLater(world, plan))
}

function inPeriod(item: Stripe.SubscriptionItem, { start, end }: Period): Stripe.SubscriptionItem {
  return { ...item, current_period_start: start, current_period_end: end }
}

function recurringOf({ items }: Stripe.Subscription): Stripe.Price.Recurring {
  const recurring = items.data[0]?.price.recurring
  if (recurring === undefined || recurring === null) throw new Error('an item without a period')
  return recurring
}
