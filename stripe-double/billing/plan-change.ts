import type Stripe from 'stripe'
import { badRequest } from '../http/stripe-error.ts'
import type { Debit } from '../state.ts'
import type { World } from '../world.ts'
import type { ItemParam } from './item-params.ts'
import { type Period, periodOf } from './period.ts'
import { debitsOf } from './period-lines.ts'
import { itemsAfter, planItems } from './plan-items.ts'
import { leftUsageLines, prorationLines } from './proration.ts'

export type ProrationBehavior = 'create_prorations' | 'always_invoice' | 'none'

interface ChangeParams {
  readonly items: readonly ItemParam[]
  readonly behavior: ProrationBehavior
  /** Seconds since 1970. */
  readonly date: number | undefined
}

/** What a change of items would do: the preview shows it, the update does it. */
export interface SubscriptionChange {
  readonly items: Stripe.SubscriptionItem[]
  /** With what already waited for the next invoice. */
  readonly lines: Stripe.InvoiceLineItem[]
  readonly debits: ReadonlyMap<string, Debit>
  readonly period: Period
}

export function planChange(
  world: World,
  subscription: Stripe.Subscription,
  { items: params, behavior, date = world.now() }: ChangeParams,
): SubscriptionChange {
  const period = periodOf(subscription)
  requireWithin(date, period)
  const items = subscription.items.data
  const changes = planItems(world, params, { subscription: subscription.id, period, items })
  const after = itemsAfter(items, changes)
  if (after.length === 0) throw badRequest('A subscription must have at least one item')
  const moment = { subscription, period, date }
  const prorations = behavior === 'none' ? [] : prorationLines(world, changes, moment)
  const pending = world.state.pendingLines.get(subscription.id) ?? []
  return {
    items: after,
    lines: [...pending, ...leftUsageLines(world, changes, moment), ...prorations],
    debits: debitsOf(world, prorations, subscription.discounts.map(String)),
    period,
  }
}

function requireWithin(date: number, { start, end }: Period): void {
  if (date >= start && date <= end) return
  throw badRequest('The proration date must be within the current period of the subscription', {
    param: 'proration_date',
  })
}
