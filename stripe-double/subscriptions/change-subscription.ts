import type Stripe from 'stripe'
import { toList } from '../http/list.ts'
import { badRequest, declined } from '../http/stripe-error.ts'
import { mergeMetadata } from '../resources/metadata.ts'
import { requireOwnMethod } from '../resources/own-method.ts'
import { changeRow, getRow, type World } from '../world.ts'
import { cancellationOf } from './cancellation.ts'
import type { ChangeParam } from './change-params.ts'
import { collect } from './collect.ts'
import { newInvoice } from './new-invoice.ts'
import { planChange, type SubscriptionChange } from './plan-change.ts'
import { toDiscounts } from './redeem.ts'
import { renew } from './renew.ts'
import { canPay } from './settle-invoice.ts'

/** Does what an update asks for. Nothing is changed when it is refused. */
export function changeSubscription(
  world: World,
  row: Stripe.Subscription,
  params: ChangeParam,
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
  const changes = { ...fieldsOf(world, row, params), ...itemsOf(row, change, params), discounts }
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

function requireChangeable({ status }: Stripe.Subscription, params: ChangeParam): void {
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
  { change, params }: { change: SubscriptionChange; params: ChangeParam },
): void {
  if (params.payment_behavior !== 'error_if_incomplete' || canPay(world, subscription)) return
  const plan = { subscription, ...change, reason: 'subscription_update' } as const
  if (newInvoice(world, plan).amount_due > 0) throw declined()
}

function itemsOf(row: Stripe.Subscription, { items }: SubscriptionChange, params: ChangeParam) {
  return params.items === undefined ? {} : { items: toList(row.items.url, items) }
}

function fieldsOf(
  world: World,
  row: Stripe.Subscription,
  params: ChangeParam,
): Partial<Stripe.Subscription> {
  const { default_payment_method: method, description, metadata } = params
  return {
    ...cancellationOf(row, params, world.now()),
    ...(method !== undefined && { default_payment_method: method || null }),
    ...(description !== undefined && { description: description || null }),
    ...(metadata !== undefined && { metadata: mergeMetadata(row.metadata, metadata) }),
  }
}
