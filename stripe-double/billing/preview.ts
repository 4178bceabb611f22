import type Stripe from 'stripe'
import * as v from 'valibot'
import { Text } from '../http/params.ts'
import { badRequest } from '../http/stripe-error.ts'
import { getRow, type World } from '../world.ts'
import { ProrationParams } from './change-params.ts'
import { ItemParams } from './item-params.ts'
import { type InvoicePlan, newInvoice } from './new-invoice.ts'
import { periodEnd, periodOf } from './period.ts'
import { advanceLines, usageLines } from './period-lines.ts'
import { planChange } from './plan-change.ts'

export const PreviewParams = v.strictObject({
  customer: v.optional(Text),
  subscription: v.optional(Text),
  subscription_details: v.optional(
    v.strictObject({ ...ProrationParams, items: v.optional(v.array(ItemParams)) }),
  ),
})

/**
 * With `always_invoice`: the invoice that an update with the same parameters charges at once.
 * Otherwise the next renewal, with prorations.
 */
export function previewInvoice(
  world: World,
  params: v.InferOutput<typeof PreviewParams>,
): Stripe.Invoice {
  const subscription = subscriptionFor(world, params)
  const details = params.subscription_details ?? {}
  const { items = [], proration_behavior: behavior = 'create_prorations' } = details
  const change = planChange(world, subscription, { items, behavior, date: details.proration_date })
  const after = { ...subscription, items: { ...subscription.items, data: change.items } }
  const atOnce = items.length > 0 && behavior === 'always_invoice'
  const plan = { subscription: after, reason: 'upcoming', period: change.period } as const
  return newInvoice(world, {
    ...plan,
    lines: atOnce ? change.lines : [...change.lines, ...renewalLines(world, plan)],
  })
}

function renewalLines(world: World, { subscription, period }: Omit<InvoicePlan, 'lines'>) {
  const recurring = subscription.items.data[0]?.price.recurring
  if (recurring === undefined || recurring === null || subscription.cancel_at !== null) {
    return usageLines(world, subscription, period)
  }
  const end = periodEnd(subscription.billing_cycle_anchor, period.end, recurring)
  return [
    ...usageLines(world, subscription, period),
    ...advanceLines(world, subscription.items.data, { start: period.end, end }),
  ]
}

function subscriptionFor(
  world: World,
  { customer, subscription }: v.InferOutput<typeof PreviewParams>,
): Stripe.Subscription {
  const { subscriptions } = world.state.tables
  if (subscription !== undefined) {
    return requireLive(getRow(subscriptions, subscription, 'subscription', 'subscription'))
  }
  const live = [...subscriptions.values()].find(
    (row) => row.customer === customer && row.ended_at === null,
  )
  if (live !== undefined) return live
  throw badRequest('No upcoming invoices for customer', { code: 'invoice_upcoming_none' })
}

function requireLive(subscription: Stripe.Subscription): Stripe.Subscription {
  if (subscription.ended_at === null && periodOf(subscription).end > 0) return subscription
  throw badRequest('No upcoming invoices for customer', { code: 'invoice_upcoming_none' })
}
