import type Stripe from 'stripe'
import type * as v from 'valibot'
import { badRequest, declined } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { getPrice } from '../resources/prices.ts'
import { addRow, getRow, type World } from '../world.ts'
import { collect, rememberInvoice } from './collect.ts'
import type { ItemParam } from './item-params.ts'
import { newInvoice } from './new-invoice.ts'
import { newSubscription } from './new-subscription.ts'
import { type Period, periodEnd } from './period.ts'
import { advanceLines, debitsOf } from './period-lines.ts'
import { itemsAfter, planItems } from './plan-items.ts'
import { type DiscountParams, toDiscounts } from './redeem.ts'
import { canPay, chargeNow, defaultMethod, finalizeInvoice } from './settle-invoice.ts'

export type PaymentBehavior = 'allow_incomplete' | 'default_incomplete' | 'error_if_incomplete'

export interface Start {
  readonly customer: string
  readonly items: readonly ItemParam[]
  readonly discounts: v.InferOutput<typeof DiscountParams>
  readonly checkoutSession?: string
  readonly trialEnd: number | null
  readonly defaultMethod: string | null
  readonly metadata: Stripe.Metadata
  readonly description: string | null
  readonly paymentBehavior: PaymentBehavior
}

/** Makes the subscription and its first invoice, and charges that as `paymentBehavior` says. */
export function startSubscription(world: World, start: Start): Stripe.Subscription {
  const id = newId('sub')
  const period = firstPeriod(world, start)
  const items = itemsAfter(
    [],
    planItems(world, start.items, { subscription: id, period, items: [] }),
  )
  const holder = {
    customer: start.customer,
    subscription: id,
    ...(start.checkoutSession !== undefined && { checkoutSession: start.checkoutSession }),
  }
  const draft = newSubscription(world, { ...start, id, items, period, discounts: [] })
  const lines = start.trialEnd === null ? advanceLines(world, items, period) : []
  requirePayable(world, draft, { lines, paymentBehavior: start.paymentBehavior })
  const discounts = toDiscounts(world, start.discounts, holder)
  const { subscriptions } = world.state.tables
  const subscription = addRow(
    world,
    subscriptions,
    { ...draft, discounts },
    'customer.subscription.created',
  )
  for (const [item, debit] of debitsOf(world, lines, discounts)) world.state.debits.set(item, debit)
  chargeFirst(world, { subscription, lines, period }, start.paymentBehavior)
  return getRow(subscriptions, id, 'subscription')
}

interface FirstCharge {
  readonly subscription: Stripe.Subscription
  readonly lines: readonly Stripe.InvoiceLineItem[]
  readonly period: Period
}

function chargeFirst(world: World, first: FirstCharge, behavior: PaymentBehavior): void {
  const plan = { ...first, reason: 'subscription_create' } as const
  const { id, status } = first.subscription
  if (status === 'trialing') {
    rememberInvoice(world, id, chargeNow(world, plan))
    return
  }
  if (behavior !== 'default_incomplete' || newInvoice(world, plan).amount_due === 0) {
    collect(world, plan)
    return
  }
  const draft = newInvoice(world, plan)
  const { invoices } = world.state.tables
  const open = finalizeInvoice(world, addRow(world, invoices, draft, 'invoice.created'))
  rememberInvoice(world, id, open)
}

function firstPeriod(world: World, { items, trialEnd }: Start): Period {
  const now = world.now()
  if (trialEnd !== null) return { start: now, end: trialEnd }
  const recurring = getPrice(world, items[0]?.price ?? '', 'items[0][price]').recurring
  const monthly = { interval: 'month', interval_count: 1 } as const
  return { start: now, end: periodEnd(now, now, recurring ?? monthly) }
}

function requirePayable(
  world: World,
  subscription: Stripe.Subscription,
  { lines, paymentBehavior }: Pick<FirstCharge, 'lines'> & Pick<Start, 'paymentBehavior'>,
): void {
  const isFree = lines.every(({ amount }) => amount === 0)
  if (isFree || paymentBehavior === 'default_incomplete') return
  if (defaultMethod(world, subscription) === null) {
    throw badRequest(
      'This customer has no attached payment source or default payment method. Please consider adding a default payment method.',
      { code: 'resource_missing' },
    )
  }
  if (paymentBehavior === 'error_if_incomplete' && !canPay(world, subscription)) throw declined()
}
