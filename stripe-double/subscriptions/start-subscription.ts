import type Stripe from 'stripe'
import type * as v from 'valibot'
import { collect, setLatestInvoice } from '../billing/collect.ts'
import { type InvoicePlan, newInvoice } from '../billing/new-invoice.ts'
import { type Period, periodEnd } from '../billing/period.ts'
import { advanceLines, recordDebits } from '../billing/period-lines.ts'
import { type DiscountParams, redeemDiscounts } from '../billing/redeem.ts'
import { addInvoice, canPay, defaultMethod, finalizeInvoice } from '../billing/settle-invoice.ts'
import { toList } from '../http/list.ts'
import { badRequest, declined } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { addRow, getRow, type World } from '../world.ts'
import { NO_CANCELLATION } from './cancellation.ts'
import type { CurrentItems, ItemParam, PaymentBehavior } from './change-params.ts'
import { computeItems, itemsAfter } from './compute-items.ts'

interface StartParams {
  readonly customer: string
  readonly defaultMethod: string | null
  readonly metadata: Stripe.Metadata
  readonly description: string | null
  readonly items: readonly ItemParam[]
  readonly discounts: v.InferOutput<typeof DiscountParams>
  readonly paymentBehavior: PaymentBehavior
}

type FirstCharge = Omit<InvoicePlan, 'reason'>

/** Creates the subscription and its first invoice, charged according to `paymentBehavior`. */
export function startSubscription(world: World, start: StartParams): Stripe.Subscription {
  const id = newId('sub')
  const period = firstPeriod(world, start)
  const changes = computeItems(world, start.items, { subscription: id, period, items: [] })
  const items = itemsAfter([], changes)
  const draft = newSubscription(world, start, { subscription: id, period, items })
  const lines = advanceLines(world, items, period)
  requirePayable(world, draft, { lines, paymentBehavior: start.paymentBehavior })
  const holder = { customer: start.customer, subscription: id, currency: draft.currency }
  const discounts = redeemDiscounts(world, start.discounts, holder)
  const row = { ...draft, discounts }
  const subscription = addRow(world, 'subscriptions', row, 'customer.subscription.created')
  recordDebits(world, lines, discounts)
  chargeFirst(world, { subscription, lines, period }, start.paymentBehavior)
  return getRow(world, 'subscriptions', id)
}

function chargeFirst(world: World, first: FirstCharge, behavior: PaymentBehavior): void {
  const plan = { ...first, reason: 'subscription_create' } as const
  if (behavior !== 'default_incomplete' || newInvoice(world, plan).amount_due === 0) {
    collect(world, plan)
    return
  }
  const draft = addInvoice(world, newInvoice(world, plan))
  setLatestInvoice(world, first.subscription.id, finalizeInvoice(world, draft))
}

function firstPeriod(world: World, { items }: StartParams): Period {
  const now = world.now()
  const recurring = getRow(world, 'prices', items[0]?.price ?? '', 'items[0][price]').recurring
  const monthly = { interval: 'month', interval_count: 1 } as const
  return { start: now, end: periodEnd(now, now, recurring ?? monthly) }
}

function requirePayable(
  world: World,
  subscription: Stripe.Subscription,
  { lines, paymentBehavior }: Pick<FirstCharge, 'lines'> & Pick<StartParams, 'paymentBehavior'>,
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

/** A subscription before its first payment. */
function newSubscription(
  world: World,
  { customer, defaultMethod, metadata, description }: StartParams,
  { subscription: id, period, items }: CurrentItems,
): Stripe.Subscription {
  return newObject<Stripe.Subscription>(world, {
    id,
    object: 'subscription',
    ...NO_CANCELLATION,
    billing_cycle_anchor: period.start,
    currency: items[0]?.price.currency ?? 'usd',
    customer,
    default_payment_method: defaultMethod,
    description,
    discounts: [],
    ended_at: null,
    items: toList(`/v1/subscription_items?subscription=${id}`, [...items]),
    latest_invoice: null,
    metadata,
    status: 'incomplete',
  })
}
