import type Stripe from 'stripe'
import { setLatestInvoice } from '../billing/collect.ts'
import { periodEnd, periodOf } from '../billing/period.ts'
import { advanceLines, recordDebits, usageLines } from '../billing/period-lines.ts'
import { chargeLater } from '../billing/settle-invoice.ts'
import { toList } from '../http/list.ts'
import { changeRow, type World } from '../world.ts'
import { inPeriod } from './restart-period.ts'

/** Starts the next period. A draft invoice bills the last period's usage and the next period in advance. */
export function renew(world: World, row: Stripe.Subscription): void {
  const last = periodOf(row)
  const end = periodEnd(row.billing_cycle_anchor, last.end, recurringOf(row))
  const next = { start: last.end, end }
  const items = row.items.data.map((item) => inPeriod(item, next))
  const lines = [
    ...(world.state.pendingLines.get(row.id) ?? []),
    ...usageLines(world, row, last),
    ...advanceLines(world, items, next),
  ]
  world.state.pendingLines.delete(row.id)
  recordDebits(world, lines, row.discounts.map(String))
  const status = row.status === 'trialing' ? 'active' : row.status
  const changes = { items: toList(row.items.url, items), status }
  const subscription = changeRow(world, row, changes, 'customer.subscription.updated')
  const plan = { subscription, lines, period: last, reason: 'subscription_cycle' } as const
  setLatestInvoice(world, row.id, chargeLater(world, plan))
}

function recurringOf({ items }: Stripe.Subscription): Stripe.Price.Recurring {
  const recurring = items.data[0]?.price.recurring
  if (recurring === undefined || recurring === null)
    throw new Error('A subscription item has a price that does not recur')
  return recurring
}
