import { givesAccess } from '../../config/entitlement.ts'
import type { Interval } from '../../contract/billing/price-schemas.ts'
import { SECOND_MS } from '../../parts/durations.ts'
import type { Billing } from '../billing.ts'
import { CHARGED_FROM_FIELD, OVERAGES_FIELD, PLAN_FIELD, userOf } from '../stripe/metadata.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import type { SubscriptionRow } from './subscriptions.ts'

type PriceSettings = Pick<Billing, 'plans' | 'prices' | 'overagePrice'>

/** The rows that mirror a customer's subscriptions, and what is wrong with the subscriptions. */
export interface MirrorRows {
  /**
   * The subscription that counts: the newest that gives access, or else the newest that has not ended.
   * null if there is no live subscription to one of our plans.
   */
  readonly row: SubscriptionRow | null
  /** The ids of ours that give no access, but that Stripe keeps: the customer could still pay for them. */
  readonly unpaid: readonly string[]
  /** The ids of others that give access: the customer pays for them, too. */
  readonly duplicates: readonly string[]
  /** Prices that the user pays, but that belong to no plan in the settings. */
  readonly unknownPrices: readonly string[]
  /** Whether the user pays for a plan that we do not know. */
  readonly paysForUnknown: boolean
  /** Whether the subscription has a payment method of its own, which pays instead of the customer's. */
  readonly hasOwnMethod: boolean
}

const ENDED: readonly string[] = ['canceled', 'incomplete_expired']
/** All payments have failed. Stripe charges no more, and later invoices stay drafts: for us it has ended. */
const GIVEN_UP = 'unpaid'

/** `before`, our row so far, or else metadata knows the plan of a price that was removed from the settings. */
export function toMirrorRows(
  userId: string,
  before: SubscriptionRow | null,
  subscriptions: readonly Stripe.Subscription[],
  settings: PriceSettings,
): MirrorRows {
  const live = subscriptions
    .filter(({ status }) => !ENDED.includes(status))
    .toSorted((a, b) => b.created - a.created || byId(b, a))
    .map((subscription) => ({
      subscription,
      row: toRow(userId, before, subscription, settings),
    }))
  const rows = live.flatMap(({ row }) => row ?? [])
  const paid = rows.filter(({ status }) => givesAccess(status))
  const unpaid = rows.filter(({ status }) => !givesAccess(status))
  const ours = live.filter(
    ({ subscription, row }) =>
      givesAccess(subscription.status) && (row !== null || userOf(subscription) === userId),
  )
  const counted = paid[0] ?? unpaid.find(({ status }) => status !== GIVEN_UP) ?? null
  const own = live.find(({ row }) => row !== null && row === counted)?.subscription
  return {
    row: counted,
    unpaid: unpaid.map(({ id }) => id),
    duplicates: paid.slice(1).map(({ id }) => id),
    unknownPrices: ours.flatMap(({ subscription }) => unknownPricesOf(subscription, settings)),
    paysForUnknown: ours.some(({ row }) => row === null),
    hasOwnMethod: (own?.default_payment_method ?? null) !== null,
  }
}

/** Keeps the plan and the overages of an item whose price was removed from the settings. */
function toRow(
  userId: string,
  before: SubscriptionRow | null,
  subscription: Stripe.Subscription,
  settings: PriceSettings,
): SubscriptionRow | null {
  const { id, status, metadata, currency, trial_end } = subscription
  const { plans, prices } = settings
  const last = before?.id === id ? before : null
  const { item, overageItem } = findItems(subscription, settings, last)
  const offer = item && prices.offerOf(item.price.id)
  const plan = offer?.plan.id ?? last?.plan ?? findNamed(settings, metadata[PLAN_FIELD])
  if (item === undefined || plan === undefined) return null
  const interval = offer?.interval ?? intervalOf(item.price)
  const mayGoOver = prices.allowsOverages({ plan: plans.ofUser(plan), interval })
  const row = {
    userId,
    id,
    itemId: item.id,
    plan,
    status,
    periodStart: item.current_period_start * SECOND_MS,
    periodEnd: item.current_period_end * SECOND_MS,
    cancelAt: cancelTime(subscription, item),
    overages: metadata[OVERAGES_FIELD] === 'on' && overageItem !== undefined && mayGoOver,
    overageItemId: overageItem?.id ?? null,
    chargedFrom: metadata[CHARGED_FROM_FIELD] ?? '',
    interval,
    priceId: item.price.id,
    currency,
    trialEnd: status === 'trialing' ? toTime(trial_end) : null,
  }
  return { ...row, ...unpaidChanges(subscription, settings, { row, last }) }
}

/** A cancellation sets one field or both. null: none. */
function cancelTime(
  { cancel_at, cancel_at_period_end }: Stripe.Subscription,
  { current_period_end }: Stripe.SubscriptionItem,
): number | null {
  return toTime(cancel_at ?? (cancel_at_period_end ? current_period_end : null))
}

function toTime(seconds: number | null): number | null {
  return seconds === null ? null : seconds * SECOND_MS
}

/** Our row forgets the plan of a subscription while another counts; its metadata does not. */
function findNamed({ plans }: PriceSettings, named: string | undefined): string | undefined {
  if (!named) return undefined
  const { id, price } = plans.ofUser(named)
  return price > 0 ? id : undefined
}

/** Of a period that is longer than a month, as of a year, the requests are counted by the month. */
function intervalOf({ recurring }: Stripe.Price): Interval {
  return recurring?.interval === 'month' && recurring.interval_count === 1 ? 'month' : 'year'
}

interface Rows {
  readonly row: Pick<SubscriptionRow, 'priceId' | 'periodStart'>
  readonly last: SubscriptionRow | null
}

/** The price of the pending change, and of the last change that Stripe dropped unconfirmed. */
function unpaidChanges(
  { pending_update }: Stripe.Subscription,
  { prices }: PriceSettings,
  { row, last }: Rows,
) {
  const pending = pending_update?.subscription_items?.map(({ price }) => price.id) ?? []
  const pendingPrice = pending.find((id) => prices.offerOf(id) !== undefined) ?? null
  const isUnchanged = last?.priceId === row.priceId && last.periodStart === row.periodStart
  if (pendingPrice !== null || !isUnchanged) return { pendingPrice, lapsedPrice: null }
  return { pendingPrice, lapsedPrice: last.pendingPrice ?? last.lapsedPrice }
}

function findItems(
  { items: { data: items } }: Stripe.Subscription,
  { prices, overagePrice }: PriceSettings,
  last: SubscriptionRow | null,
) {
  const withId = (id: string | null | undefined) => items.find((one) => one.id === id)
  const overageItem =
    items.find(({ price }) => price.id === overagePrice) ?? withId(last?.overageItemId)
  const known = items.find(({ price }) => prices.offerOf(price.id) !== undefined)
  const other = items.find(
    (one) => one !== overageItem && one.price.recurring?.usage_type !== 'metered',
  )
  return { item: known ?? withId(last?.itemId) ?? other, overageItem }
}

/** Stripe's lists come in any order. */
function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1
}

/** None if one of the prices is the price of a plan. */
function unknownPricesOf({ items }: Stripe.Subscription, { prices, overagePrice }: PriceSettings) {
  const ids = items.data.map(({ price }) => price.id)
  if (ids.some((id) => prices.offerOf(id) !== undefined)) return []
  return ids.filter((id) => id !== overagePrice)
}
