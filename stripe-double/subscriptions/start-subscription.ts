import type Stripe from 'stripe'
import type * as v from 'valibot'
import { chargeCard, defaultMethod, type Payment } from '../billing/charge-card.ts'
import { collect, setLatestInvoice } from '../billing/collect.ts'
import { type InvoicePlan, newInvoice } from '../billing/new-invoice.ts'
import { type Period, periodEnd } from '../billing/period.ts'
import { advanceLines, recordDebits } from '../billing/period-lines.ts'
import { type DiscountParams, redeemDiscounts } from '../billing/redeem.ts'
import { addInvoice, finalizeInvoice } from '../billing/settle-invoice.ts'
import { toList } from '../http/list.ts'
import { actionRequired, badRequest, declined } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { type AutomaticTaxParam, toAutomaticTax } from '../tax/taxes.ts'
import { addRow, getRow, type World } from '../world.ts'
import { NO_CANCELLATION } from './cancellation.ts'
import type { CurrentItems, ItemParam, PaymentBehavior } from './change-params.ts'
import { computeItems, itemsAfter } from './compute-items.ts'
import { chooseCurrency } from './currency.ts'

interface StartParams {
  readonly customer: string
  readonly defaultMethod: string | null
  readonly metadata: Stripe.Metadata
  readonly description: string | null
  readonly items: readonly ItemParam[]
  readonly discounts: v.InferOutput<typeof DiscountParams>
  readonly paymentBehavior: PaymentBehavior
  /** Whether the customer is there and confirms the payment. */
  readonly authentication: Payment['authentication']
  readonly automaticTax: AutomaticTaxParam | undefined
  readonly trialDays: number | undefined
  readonly currency: string | undefined
}

type FirstCharge = Omit<InvoicePlan, 'reason'>

/** Creates the subscription and its first invoice, charged according to `paymentBehavior`. */
export function startSubscription(world: World, start: StartParams): Stripe.Subscription {
  const id = newId('sub')
  const period = firstPeriod(world, start)
  world.state.currencies.set(id, currencyOf(world, start))
  const changes = computeItems(world, start.items, { subscription: id, period, items: [] })
  const items = itemsAfter([], changes)
  const draft = newSubscription(world, start, { subscription: id, period, items })
  const lines = firstLines(world, items, { period, start })
  requirePayable(world, draft, { lines, start })
  const holder = { customer: start.customer, subscription: id, currency: draft.currency }
  const discounts = redeemDiscounts(world, start.discounts, holder)
  const row = { ...draft, discounts }
  const subscription = addRow(world, 'subscriptions', row, 'customer.subscription.created')
  recordDebits(world, lines, discounts)
  chargeFirst(world, { subscription, lines, period }, start)
  return getRow(world, 'subscriptions', id)
}

function currencyOf(world: World, { customer: id, items, currency }: StartParams): string {
  const prices = items.map(({ price = '' }, index) =>
    getRow(world, 'prices', price, `items[${index}][price]`),
  )
  const customer = getRow(world, 'customers', id)
  return chooseCurrency(world, { customer, prices, currency })
}

/** A trial costs nothing. */
function firstLines(
  world: World,
  items: readonly Stripe.SubscriptionItem[],
  { period, start: { trialDays } }: { period: Period; start: StartParams },
): Stripe.InvoiceLineItem[] {
  const lines = advanceLines(world, items, period)
  if (trialDays === undefined) return lines
  return lines.map((line) => ({ ...line, amount: 0, discountable: false }))
}

function chargeFirst(
  world: World,
  first: FirstCharge,
  { paymentBehavior, authentication }: StartParams,
): void {
  const plan = { ...first, reason: 'subscription_create' } as const
  if (paymentBehavior !== 'default_incomplete' || newInvoice(world, plan).amount_due === 0) {
    collect(world, plan, { authentication })
    return
  }
  const draft = addInvoice(world, newInvoice(world, plan))
  setLatestInvoice(world, first.subscription.id, finalizeInvoice(world, draft))
}

function firstPeriod(world: World, { items, trialDays }: StartParams): Period {
  const now = world.now()
  if (trialDays !== undefined) return { start: now, end: now + trialDays * 86_400 }
  const recurring = getRow(world, 'prices', items[0]?.price ?? '', 'items[0][price]').recurring
  const monthly = { interval: 'month', interval_count: 1 } as const
  return { start: now, end: periodEnd(now, now, recurring ?? monthly) }
}

function requirePayable(
  world: World,
  subscription: Stripe.Subscription,
  { lines, start }: Pick<FirstCharge, 'lines'> & { readonly start: StartParams },
): void {
  const { paymentBehavior, authentication } = start
  const isFree = lines.every(({ amount }) => amount === 0)
  if (isFree || paymentBehavior === 'default_incomplete') return
  const method = defaultMethod(world, subscription)
  if (method === null) {
    throw badRequest(
      'This customer has no attached payment source or default payment method. Please consider adding a default payment method.',
      { code: 'resource_missing' },
    )
  }
  if (paymentBehavior !== 'error_if_incomplete') return
  const outcome = chargeCard(world, { method, authentication })
  if (outcome === 'requires-action') throw actionRequired('subscription')
  if (outcome === 'declined') throw declined()
}

/** A subscription before its first payment. */
function newSubscription(
  world: World,
  { customer, defaultMethod, metadata, description, automaticTax, trialDays }: StartParams,
  { subscription: id, period, items }: CurrentItems,
): Stripe.Subscription {
  return newObject<Stripe.Subscription>(world, {
    id,
    object: 'subscription',
    ...NO_CANCELLATION,
    automatic_tax: toAutomaticTax(world, automaticTax, customer),
    billing_cycle_anchor: trialDays === undefined ? period.start : period.end,
    currency: world.state.currencies.get(id) ?? 'usd',
    customer,
    default_payment_method: defaultMethod,
    description,
    discounts: [],
    ended_at: null,
    items: toList(`/v1/subscription_items?subscription=${id}`, [...items]),
    latest_invoice: null,
    metadata,
    pending_update: null,
    status: trialDays === undefined ? 'incomplete' : 'trialing',
    trial_end: trialDays === undefined ? null : period.end,
    trial_start: trialDays === undefined ? null : period.start,
  })
}
