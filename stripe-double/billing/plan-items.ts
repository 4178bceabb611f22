import type Stripe from 'stripe'
import { badRequest, missing } from '../http/stripe-error.ts'
import { mergeMetadata } from '../resources/metadata.ts'
import type { World } from '../world.ts'
import type { Basis, ItemParam } from './item-params.ts'
import { newItem, priceFor, toPlan } from './new-item.ts'

/** One item before and after; what was added has no before, what was deleted no after. */
export interface ItemChange {
  readonly before?: Stripe.SubscriptionItem
  readonly after?: Stripe.SubscriptionItem
  readonly clearUsage?: boolean
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

function requireDistinct(items: readonly Stripe.SubscriptionItem[]): void {
  const prices = items.map(({ price }) => price.id)
  const twice = prices.find((price, index) => prices.indexOf(price) !== index)
  if (twice !== undefined) {
    throw badRequest(`Cannot add multiple subscription items with the same plan: ${twice}`)
  }
}
