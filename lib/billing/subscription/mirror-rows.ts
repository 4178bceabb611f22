import { givesAccess } from '../../config/entitlement.ts'
import type { Billing } from '../billing.ts'
import type { StripeSubscription } from '../stripe/stripe-subscription.ts'
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
}

type StripeItem = StripeSubscription['items'][number]

const ENDED: readonly string[] = ['canceled', 'incomplete_expired']
/** All payments have failed. Stripe charges no more, and later invoices stay drafts: for us it has ended. */
const GIVEN_UP = 'unpaid'

/** `before`, our row so far, or else metadata knows the plan of a price that was removed from the settings. */
export function toMirrorRows(
  userId: string,
  before: SubscriptionRow | null,
  subscriptions: readonly StripeSubscription[],
  settings: PriceSettings,
): MirrorRows {
  const live = subscriptions
    .filter(({ status }) => !ENDED.includes(status))
    .toSorted((a, b) => b.createdAt - a.createdAt || byId(b, a))
    .map((subscription) => ({ subscription, row: toRow(subscription, settings, before) }))
  const rows = live.map(({ row }) => row && { ...row, userId }).filter((row) => row !== null)
  const paid = rows.filter(({ status }) => givesAccess(status))
  const unpaid = rows.filter(({ status }) => !givesAccess(status))
  const ours = live.filter(
    ({ subscription, row }) =>
      givesAccess(subscription.status) && (row !== null || subscription.userId === userId),
  )
  return {
    row: paid[0] ?? unpaid.find(({ status }) => status !== GIVEN_UP) ?? null,
    unpaid: unpaid.map(({ id }) => id),
    duplicates: paid.slice(1).map(({ id }) => id),
    unknownPrices: ours.flatMap(({ subscription }) => unknownPricesOf(subscription, settings)),
    paysForUnknown: ours.some(({ row }) => row === null),
  }
}

/** Keeps the plan and the overages of an item whose price was removed from the settings. */
function toRow(
  subscription: StripeSubscription,
  settings: PriceSettings,
  before: SubscriptionRow | null,
): Omit<SubscriptionRow, 'userId'> | null {
  const { id, status, cancelAt, wantsOverages, chargedFrom, currency, trialEnd } = subscription
  const { plans, prices } = settings
  const last = before?.id === id ? before : null
  const { item, overageItem } = findItems(subscription, settings, last)
  const offer = item && prices.offerOf(item.priceId)
  const plan = offer?.plan.id ?? last?.plan ?? findNamed(settings, subscription)
  if (item === undefined || plan === undefined) return null
  const interval = offer?.interval ?? item.interval
  const mayGoOver = prices.allowsOverages({ plan: plans.ofUser(plan), interval })
  return {
    id,
    itemId: item.id,
    plan,
    status,
    periodStart: item.periodStart,
    periodEnd: item.periodEnd,
    cancelAt: cancelAt === 'period-end' ? item.periodEnd : cancelAt,
    overages: wantsOverages && overageItem !== undefined && mayGoOver,
    overageItemId: overageItem?.id ?? null,
    chargedFrom,
    interval,
    priceId: item.priceId,
    currency,
    trialEnd: status === 'trialing' ? trialEnd : null,
    ...unpaidChanges(subscription, settings, { item, last }),
  }
}

/** Our row forgets the plan of a subscription while another counts; its metadata does not. */
function findNamed(
  { plans }: PriceSettings,
  { namedPlan }: StripeSubscription,
): string | undefined {
  if (namedPlan === null) return undefined
  const { id, price } = plans.ofUser(namedPlan)
  return price > 0 ? id : undefined
}

/** The price of the pending change, and of the last change that Stripe dropped unconfirmed. */
function unpaidChanges(
  { pendingPrices }: StripeSubscription,
  { prices }: PriceSettings,
  { item, last }: { readonly item: StripeItem; readonly last: SubscriptionRow | null },
) {
  const pendingPrice = pendingPrices.find((id) => prices.offerOf(id) !== undefined) ?? null
  const isUnchanged = last?.priceId === item.priceId && last.periodStart === item.periodStart
  if (pendingPrice !== null || !isUnchanged) return { pendingPrice, lapsedPrice: null }
  return { pendingPrice, lapsedPrice: last.pendingPrice ?? last.lapsedPrice }
}

function findItems(
  { items }: StripeSubscription,
  { prices, overagePrice }: PriceSettings,
  last: SubscriptionRow | null,
) {
  const withId = (id: string | null | undefined) => items.find((one) => one.id === id)
  const overageItem =
    items.find(({ priceId }) => priceId === overagePrice) ?? withId(last?.overageItemId)
  const known = items.find(({ priceId }) => prices.offerOf(priceId) !== undefined)
  const other = items.find((one) => one !== overageItem && !one.isMetered)
  return { item: known ?? withId(last?.itemId) ?? other, overageItem }
}

/** Stripe's lists come in any order. */
function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1
}

/** None if one of the prices is the price of a plan. */
function unknownPricesOf({ items }: StripeSubscription, { prices, overagePrice }: PriceSettings) {
  if (items.some(({ priceId }) => prices.offerOf(priceId) !== undefined)) return []
  return items.map(({ priceId }) => priceId).filter((priceId) => priceId !== overagePrice)
}
