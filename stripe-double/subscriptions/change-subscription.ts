import type Stripe from 'stripe'
import { expectedOutcome } from '../billing/charge-card.ts'
import { collect } from '../billing/collect.ts'
import { newInvoice } from '../billing/new-invoice.ts'
import { recordDebits } from '../billing/period-lines.ts'
import { redeemDiscounts } from '../billing/redeem.ts'
import { toList } from '../http/list.ts'
import { mergeMetadata, requireAtMostOne } from '../http/params.ts'
import { actionRequired, badRequest, declined } from '../http/stripe-error.ts'
import { requireOwnMethod } from '../resources/cards.ts'
import { toAutomaticTax } from '../tax/taxes.ts'
import { changeRow, getRow, type World } from '../world.ts'
import { cancellationOf } from './cancellation.ts'
import type { ChangeParam } from './change-params.ts'
import { computeChange, type SubscriptionChange } from './compute-change.ts'
import { afterTrial, discardPending, requireSupported, suspendChange } from './pending-update.ts'

/** Applies an update. Run it in `atomically`, which undoes it if it throws. */
export function changeSubscription(
  world: World,
  row: Stripe.Subscription,
  params: ChangeParam,
): Stripe.Subscription {
  requireChangeable(row, params)
  requireSupported(params)
  const method = { id: params.default_payment_method, param: 'default_payment_method' }
  requireOwnMethod(world, String(row.customer), method)
  const change = computeChange(world, row, params)
  const { currency, id: subscription } = row
  const holder = { customer: String(row.customer), subscription, currency }
  const discounts =
    params.discounts === undefined
      ? row.discounts
      : redeemDiscounts(world, params.discounts, holder)
  if (params.items !== undefined) discardPending(world, row.id)
  const subject = { change, params }
  if (change.isInvoicedNow && isUnpaid(world, { ...row, discounts }, subject)) {
    suspendChange(world, row, subject)
    return getRow(world, 'subscriptions', row.id)
  }
  const changes = {
    ...cancellationOf(row, params, { now: world.now(), end: change.period.end }),
    automatic_tax: taxAfter(world, row, params),
    ...afterTrial(change),
    billing_cycle_anchor: change.anchor,
    default_payment_method: emptyToNull(params.default_payment_method),
    description: emptyToNull(params.description),
    discounts,
    items: toList(row.items.url, change.items),
    metadata: mergeMetadata(row.metadata, params.metadata),
  }
  const current = getRow(world, 'subscriptions', row.id)
  changeRow(world, current, changes, 'customer.subscription.updated')
  recordDebits(world, change.prorations, discounts.map(String))
  world.state.pendingLines.set(row.id, change.isInvoicedNow ? [] : change.lines)
  if (change.isInvoicedNow) bill(world, row.id, change)
  return getRow(world, 'subscriptions', row.id)
}

/** Like Stripe, refuses a change that needs the customer's place if it is unknown. */
function taxAfter(world: World, row: Stripe.Subscription, params: ChangeParam) {
  const { automatic_tax: param, items, default_payment_method: method } = params
  if (param === undefined && items === undefined && method === undefined) return row.automatic_tax
  const after = toAutomaticTax(world, param ?? row.automatic_tax, String(row.customer))
  return after.enabled ? after : { ...row.automatic_tax, enabled: false }
}

function bill(world: World, id: string, { lines, period }: SubscriptionChange): void {
  if (lines.length === 0) return
  const subscription = getRow(world, 'subscriptions', id)
  collect(world, { subscription, lines, period, reason: 'subscription_update' })
}

function requireChangeable({ status }: Stripe.Subscription, params: ChangeParam): void {
  requireAtMostOne(params, 'cancel_at', 'cancel_at_period_end')
  if (status !== 'canceled' && status !== 'incomplete_expired') return
  throw badRequest('A canceled subscription cannot be updated.')
}

/**
 * Whether the change must wait because its charge fails. With `error_if_incomplete` throws instead; with
 * the other behaviours the change takes effect unpaid.
 */
function isUnpaid(
  world: World,
  subscription: Stripe.Subscription,
  { change, params }: { change: SubscriptionChange; params: ChangeParam },
): boolean {
  const { payment_behavior: behavior } = params
  if (behavior !== 'error_if_incomplete' && behavior !== 'pending_if_incomplete') return false
  const outcome = expectedOutcome(world, subscription)
  const plan = { subscription, ...change, reason: 'subscription_update' } as const
  if (outcome === 'paid' || newInvoice(world, plan).amount_due === 0) return false
  if (behavior === 'pending_if_incomplete') return true
  throw outcome === 'requires-action' ? actionRequired('subscription') : declined()
}

/** Like Stripe: an empty text removes the value. Undefined leaves it. */
function emptyToNull(text: string | undefined): string | null | undefined {
  return text === '' ? null : text
}
