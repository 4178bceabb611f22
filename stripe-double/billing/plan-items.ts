import type Stripe from 'stripe'
import * as v from 'valibot'
import { Flag, Integer, Metadata, Text } from '../http/params.ts'
import { badRequest, missing } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { mergeMetadata } from '../resources/metadata.ts'
import { getPrice, isMetered } from '../resources/prices.ts'
import type { World } from '../world.ts'
import type { Period } from './period.ts'

export const ItemParams = v.strictObject({
  id: v.optional(Text),
  price: v.optional(Text),
  quantity: v.optional(Integer),
  deleted: v.optional(Flag),
  clear_usage: v.optional(Flag),
  metadata: v.optional(Metadata),
})

export type ItemParam = v.InferOutput<typeof ItemParams>

/** One item before and after; what was added has no before, what was deleted no after. */
export interface ItemChange {
  readonly before?: Stripe.SubscriptionItem
  readonly after?: Stripe.SubscriptionItem
  readonly clearUsage?: boolean
}

interface Basis {
  readonly subscription: string
  readonly period: Period
  readonly items: readonly Stripe.SubscriptionItem[]
}

/** What the parameters do to the items, without doing it. */
export function planItems(world: World, params: readonly ItemParam[], basis: Basis): ItemChange[] {
  const changes = params.map((param, index) => planItem(world, param, { basis, index }))
  const kept = basis.items.filter((item) => !changes.some(({ before }) => before?.id === item.id))
  const after = changes.flatMap((change) => change.after ?? [])
  requireDistinct([...kept, ...after])
  return changes
}

/** The items of the subscription after the changes. */
export function itemsAfter(
  items: readonly Stripe.SubscriptionItem[],
  changes: readonly ItemChange[],
): Stripe.SubscriptionItem[] {
  const kept = items.flatMap((item) => {
    const change = changes.find(({ before }) => before?.id === item.id)
    return change === undefined ? [item] : (change.after ?? [])
  })
  const added = changes.flatMap(({ before, after }) => (before === undefined ? (after ?? []) : []))
  return [...kept, ...added]
}

function planItem(
  world: World,
  param: ItemParam,
  { basis, index }: { basis: Basis; index: number },
): ItemChange {
  const { id, deleted, clear_usage: clearUsage = false } = param
  if (id === undefined) return { after: newItem(world, param, { basis, index }) }
  const before = basis.items.find((item) => item.id === id)
  if (before === undefined) throw missing('subscription item', id, `items[${index}][id]`)
  if (deleted === true) return { before, clearUsage }
  const price = priceFor(world, param, `items[${index}][price]`) ?? before.price
  const quantity = param.quantity ?? before.quantity
  const after = {
    ...before,
    metadata: mergeMetadata(before.metadata, param.metadata),
    price,
    plan: toPlan(price),
    ...(quantity !== undefined && { quantity }),
  }
  return { before, after }
}

function newItem(
  world: World,
  param: ItemParam,
  { basis, index }: { basis: Basis; index: number },
): Stripe.SubscriptionItem {
  const name = `items[${index}][price]`
  const price = priceFor(world, param, name)
  if (price === null) {
    throw badRequest(`Missing required param: ${name}.`, { code: 'parameter_missing', param: name })
  }
  if (isMetered(price) && param.quantity !== undefined) {
    const more = { param: `items[${index}][quantity]` }
    throw badRequest('Metered prices do not take a quantity', more)
  }
  return {
    id: newId('si', 14),
    object: 'subscription_item',
    billing_thresholds: null,
    created: world.now(),
    current_period_end: basis.period.end,
    current_period_start: basis.period.start,
    current_trial: null,
    discounts: [],
    metadata: mergeMetadata({}, param.metadata),
    plan: toPlan(price),
    price,
    ...(!isMetered(price) && { quantity: param.quantity ?? 1 }),
    subscription: basis.subscription,
    tax_rates: [],
  }
}

function priceFor(world: World, { price }: ItemParam, param: string): Stripe.Price | null {
  if (price === undefined) return null
  const found = getPrice(world, price, param)
  if (!found.active) throw badRequest(`The price specified is inactive: ${price}`, { param })
  if (found.recurring !== null) return found
  throw badRequest(`The price specified is not recurring: ${price}`, { param })
}

function requireDistinct(items: readonly Stripe.SubscriptionItem[]): void {
  const prices = items.map(({ price }) => price.id)
  const twice = prices.find((price, index) => prices.indexOf(price) !== index)
  if (twice !== undefined) {
    throw badRequest(`Cannot add multiple subscription items with the same plan: ${twice}`)
  }
}

/** The old name of a price, which items still carry. */
function toPlan(price: Stripe.Price): Stripe.Plan {
  const { recurring } = price
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: price.billing_scheme,
    created: price.created,
    currency: price.currency,
    interval: recurring?.interval ?? 'month',
    interval_count: recurring?.interval_count ?? 1,
    livemode: false,
    metadata: price.metadata,
    meter: recurring?.meter ?? null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: recurring?.usage_type ?? 'licensed',
  }
}
