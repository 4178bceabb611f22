import type Stripe from 'stripe'
import * as v from 'valibot'
import { toList } from '../http/list.ts'
import { Flag, Integer, Metadata, Text } from '../http/params.ts'
import { badRequest, declined } from '../http/stripe-error.ts'
import { mergeMetadata } from '../resources/metadata.ts'
import { requireOwnMethod } from '../resources/own-method.ts'
import { changeRow, getRow, type World } from '../world.ts'
import { collect } from './collect.ts'
import { DiscountParams, toDiscounts } from './discounts.ts'
import { newInvoice } from './new-invoice.ts'
import { periodOf } from './period.ts'
import { planChange, type SubscriptionChange } from './plan-change.ts'
import { ItemParams } from './plan-items.ts'
import { renew } from './renew.ts'
import { canPay } from './settle-invoice.ts'

export const ProrationParams = {
  proration_behavior: v.optional(v.picklist(['create_prorations', 'always_invoice', 'none'])),
  proration_date: v.optional(Integer),
}

export const ChangeParams = v.strictObject({
  ...ProrationParams,
  items: v.optional(v.array(ItemParams)),
  billing_cycle_anchor: v.optional(v.strictObject({ type: v.literal('unchanged') })),
  cancel_at: v.optional(v.union([v.picklist(['', 'min_period_end', 'max_period_end']), Integer])),
  cancel_at_period_end: v.optional(Flag),
  cancellation_details: v.optional(
    v.strictObject({ comment: v.optional(Text), feedback: v.optional(Text) }),
  ),
  default_payment_method: v.optional(Text),
  description: v.optional(Text),
  discounts: v.optional(DiscountParams),
  metadata: v.optional(Metadata),
  off_session: v.optional(Flag),
  payment_behavior: v.optional(
    v.picklist(['allow_incomplete', 'default_incomplete', 'error_if_incomplete']),
  ),
  trial_end: v.optional(v.literal('now')),
})

type Params = v.InferOutput<typeof ChangeParams>

/** Does what an update asks for. Nothing is changed when it is refused. */
export function changeSubscription(
  world: World,
  row: Stripe.Subscription,
  params: Params,
): Stripe.Subscription {
  requireChangeable(row, params)
  const method = { id: params.default_payment_method, param: 'default_payment_method' }
  requireOwnMethod(world, String(row.customer), method)
  const { items = [], proration_behavior: behavior = 'create_prorations' } = params
  const asked = { items, behavior, date: params.proration_date }
  planChange(world, row, asked)
  const holder = { customer: String(row.customer), subscription: row.id }
  const discounts =
    params.discounts === undefined ? row.discounts : toDiscounts(world, params.discounts, holder)
  const next = { ...row, discounts }
  const change = planChange(world, next, asked)
  const charge = items.length > 0 && behavior === 'always_invoice'
  if (charge) requirePaid(world, next, { change, params })
  const { subscriptions } = world.state.tables
  const changes = { ...fieldsOf(row, params), ...itemsOf(row, change, params), discounts }
  changeRow(world, subscriptions, { row, changes }, 'customer.subscription.updated')
  for (const [item, debit] of change.debits) world.state.debits.set(item, debit)
  world.state.pendingLines.set(row.id, charge ? [] : change.lines)
  if (charge) bill(world, row.id, change)
  if (params.trial_end === 'now') renew(world, getRow(subscriptions, row.id, 'subscription'))
  return getRow(subscriptions, row.id, 'subscription')
}

function bill(world: World, id: string, { lines, period }: SubscriptionChange): void {
  if (lines.length === 0) return
  const subscription = getRow(world.state.tables.subscriptions, id, 'subscription')
  collect(world, { subscription, lines, period, reason: 'subscription_update' })
}

function requireChangeable({ status }: Stripe.Subscription, params: Params): void {
  if (params.cancel_at !== undefined && params.cancel_at_period_end !== undefined) {
    throw badRequest(
      'You may only specify one of these parameters: cancel_at, cancel_at_period_end.',
    )
  }
  if (status !== 'canceled' && status !== 'incomplete_expired') return
  throw badRequest('A canceled subscription can only update its cancellation_details and metadata.')
}

function requirePaid(
  world: World,
  subscription: Stripe.Subscription,
  { change, params }: { change: SubscriptionChange; params: Params },
): void {
  if (params.payment_behavior !== 'error_if_incomplete' || canPay(world, subscription)) return
  const plan = { subscription, ...change, reason: 'subscription_update' } as const
  if (newInvoice(world, plan).amount_due > 0) throw declined()
}

function itemsOf(row: Stripe.Subscription, { items }: SubscriptionChange, params: Params) {
  if (params.items === undefined) return {}
  if (items.length === 0) throw badRequest('A subscription must have at least one item')
  return { items: toList(row.items.url, items) }
}

function fieldsOf(row: Stripe.Subscription, params: Params): Partial<Stripe.Subscription> {
  const { default_payment_method: method, description, metadata } = params
  return {
    ...cancellationOf(row, params),
    ...(method !== undefined && { default_payment_method: method || null }),
    ...(description !== undefined && { description: description || null }),
    ...(metadata !== undefined && { metadata: mergeMetadata(row.metadata, metadata) }),
  }
}

/** `cancel_at_period_end: false` does not clear a `cancel_at` that came by itself. */
function cancellationOf(row: Stripe.Subscription, params: Params): Partial<Stripe.Subscription> {
  const { cancel_at, cancel_at_period_end: atEnd } = params
  if (atEnd === true) return marked(row, periodOf(row).end, { atEnd, params })
  if (atEnd === false) return row.cancel_at_period_end ? unmarked() : {}
  if (cancel_at === undefined) return {}
  if (cancel_at === '') return unmarked()
  const at = typeof cancel_at === 'number' ? cancel_at : periodOf(row).end
  return marked(row, at, { atEnd: false, params })
}

function marked(
  row: Stripe.Subscription,
  cancel_at: number,
  { atEnd, params }: { atEnd: boolean; params: Params },
): Partial<Stripe.Subscription> {
  const { comment = null, feedback = null } = params.cancellation_details ?? {}
  return {
    cancel_at,
    cancel_at_period_end: atEnd,
    canceled_at: row.canceled_at ?? Math.floor(cancel_at),
    cancellation_details: {
      comment,
      feedback,
      feedback_option: null,
      reason: 'cancellation_requested',
    },
  }
}

function unmarked(): Partial<Stripe.Subscription> {
  return {
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
  }
}
