import { givesAccess } from '../../config/entitlement.ts'
import type { Billing } from '../billing.ts'
import type { StripeSubscription } from '../stripe/stripe-subscription.ts'
import type { DuplicateRow } from './duplicate-rows.ts'
import type { SubscriptionRow } from './subscriptions.ts'

type Catalogue = Pick<Billing, 'plans' | 'prices' | 'overagePrice'>

/** What we keep of a customer's subscriptions, and what is wrong with them. */
export interface MirrorRows {
  /**
   * The subscription that counts: the newest that gives access, or else the newest that has not ended.
   * null if there is no live subscription to one of our plans.
   */
  readonly row: SubscriptionRow | null
  /** Others that give access: the customer pays for them, too. */
  readonly duplicates: readonly DuplicateRow[]
  /** Prices that the user pays although the settings have no plan for them. */
  readonly unknownPrices: readonly string[]
  /** Whether the user pays for a plan that we do not know. */
  readonly paysForUnknown: boolean
}

type StripeItem = StripeSubscription['items'][number]

const ENDED: readonly string[] = ['canceled', 'incomplete_expired']

/** Our rows so far: they have the plans of prices that the settings have lost. */
export interface KnownRows {
  readonly before: SubscriptionRow | null
  readonly duplicates: readonly DuplicateRow[]
}

export function toMirrorRows(
  userId: string,
  known: KnownRows,
  subscriptions: readonly StripeSubscription[],
  catalogue: Catalogue,
): MirrorRows {
  const live = subscriptions
    .filter(({ status }) => !ENDED.includes(status))
    .toSorted((a, b) => b.createdAt - a.createdAt || byId(b, a))
    .map((subscription) => ({ subscription, row: toRow(subscription, catalogue, known) }))
  const rows = live.map(({ row }) => row && { ...row, userId }).filter((row) => row !== null)
  const paid = rows.filter(({ status }) => givesAccess(status))
  const ours = live.filter(
    ({ subscription, row }) =>
      givesAccess(subscription.status) && (row !== null || subscription.userId === userId),
  )
  return {
    row: paid[0] ?? rows[0] ?? null,
    duplicates: paid.slice(1).map(toDuplicate).toSorted(byId),
    unknownPrices: ours.flatMap(({ subscription }) => unknownPricesOf(subscription, catalogue)),
    paysForUnknown: ours.some(({ row }) => row === null),
  }
}

/** Keeps the plan, and overages, of an item that the settings no longer know. */
function toRow(
  subscription: StripeSubscription,
  catalogue: Catalogue,
  { before, duplicates }: KnownRows,
): Omit<SubscriptionRow, 'userId'> | null {
  const { id, status, cancelAt, wantsOverages, chargedFrom, currency, trialEnd } = subscription
  const { carriedRequests, carriedUntil } = subscription
  const { plans, prices } = catalogue
  const last = before?.id === id ? before : null
  const { item, overageItem } = findItems(subscription, catalogue, last)
  const offer = item && prices.offerOf(item.priceId)
  const plan = offer?.plan.id ?? last?.plan ?? duplicates.find((row) => row.id === id)?.plan
  if (item === undefined || plan === undefined) return null
  const interval = offer?.interval ?? last?.interval ?? 'month'
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
    carriedRequests,
    carriedUntil,
    ...unpaidChanges(subscription, catalogue, { item, last }),
  }
}

/** The change that waits for the customer, and the last one that Stripe dropped because nobody confirmed it. */
function unpaidChanges(
  { pendingPrices }: StripeSubscription,
  { prices }: Catalogue,
  { item, last }: { readonly item: StripeItem; readonly last: SubscriptionRow | null },
) {
  const pendingPrice = pendingPrices.find((id) => prices.offerOf(id) !== undefined) ?? null
  const isUnchanged = last?.priceId === item.priceId && last.periodStart === item.periodStart
  if (pendingPrice !== null || !isUnchanged) return { pendingPrice, lapsedPrice: null }
  return { pendingPrice, lapsedPrice: last.pendingPrice ?? last.lapsedPrice }
}

function findItems(
  { items }: StripeSubscription,
  { prices, overagePrice }: Catalogue,
  last: SubscriptionRow | null,
) {
  const withId = (id: string | null | undefined) => items.find((one) => one.id === id)
  const overageItem =
    items.find(({ priceId }) => priceId === overagePrice) ?? withId(last?.overageItemId)
  const known = items.find(({ priceId }) => prices.offerOf(priceId) !== undefined)
  const other = items.find((one) => one !== overageItem)
  return { item: known ?? withId(last?.itemId) ?? other, overageItem }
}

function toDuplicate({ id, userId, plan, status, periodEnd }: SubscriptionRow): DuplicateRow {
  return { id, userId, plan, status, periodEnd }
}

/** Stripe's lists differ in their order; the database returns rows in this one. */
function byId(one: { readonly id: string }, other: { readonly id: string }): number {
  return one.id < other.id ? -1 : 1
}

/** None if one of the prices is the price of a plan. */
function unknownPricesOf({ items }: StripeSubscription, { prices, overagePrice }: Catalogue) {
  if (items.some(({ priceId }) => prices.offerOf(priceId) !== undefined)) return []
  return items.map(({ priceId }) => priceId).filter((priceId) => priceId !== overagePrice)
}
