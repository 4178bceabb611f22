import type Stripe from 'stripe'
import { mergeMetadata } from '../http/params.ts'
import { badRequest, missing, missingParam } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { isMetered } from '../resources/catalog/prices.ts'
import { getRow, type World } from '../world.ts'
import type { CurrentItems, ItemParam } from './change-params.ts'
import { requireOffered } from './currency.ts'

/** One item before and after a change. An added item has no `before`. */
export interface ItemChange {
  readonly before?: Stripe.SubscriptionItem
  readonly after: Stripe.SubscriptionItem
}

/** Computes the requested changes. Throws if two items would have the same price, or two currencies. */
export function computeItems(
  world: World,
  params: readonly ItemParam[],
  current: CurrentItems,
): ItemChange[] {
  const changes = params.map((param, index) => computeItem(world, param, { current, index }))
  const items = itemsAfter(current.items, changes)
  requireDistinct(items)
  requireOneCurrency(items)
  return changes
}

/** The items of the subscription after the changes. */
export function itemsAfter(
  items: readonly Stripe.SubscriptionItem[],
  changes: readonly ItemChange[],
): Stripe.SubscriptionItem[] {
  const added = changes.filter(({ before }) => before === undefined)
  const changed = items.map(
    (item) => changes.find(({ before }) => before?.id === item.id)?.after ?? item,
  )
  return [...changed, ...added.map(({ after }) => after)]
}

function computeItem(
  world: World,
  param: ItemParam,
  { current, index }: { current: CurrentItems; index: number },
): ItemChange {
  const { id } = param
  if (id === undefined) return { after: newItem(world, param, { current, index }) }
  const before = current.items.find((item) => item.id === id)
  if (before === undefined) throw missing('subscription item', id, `items[${index}][id]`)
  const price = priceFor(world, param, { current, index }) ?? before.price
  const quantity = param.quantity ?? before.quantity
  const after = {
    ...before,
    metadata: mergeMetadata(before.metadata, param.metadata),
    price,
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

function requireOneCurrency(items: readonly Stripe.SubscriptionItem[]): void {
  const [expected, ...others] = items.map(({ price }) => price.currency)
  const other = others.find((currency) => currency !== expected)
  if (other === undefined) return
  throw badRequest(
    `The price specified only supports \`${other}\`. This doesn't match the expected currency: \`${expected}\`.`,
  )
}

/** The item that the parameters at `index` add. */
function newItem(
  world: World,
  param: ItemParam,
  { current, index }: { current: CurrentItems; index: number },
): Stripe.SubscriptionItem {
  const name = `items[${index}][price]`
  const price = priceFor(world, param, { current, index })
  if (price === null) throw missingParam(name)
  if (isMetered(price) && param.quantity !== undefined) {
    const more = { param: `items[${index}][quantity]` }
    throw badRequest('Metered prices do not take a quantity', more)
  }
  return newObject<Stripe.SubscriptionItem>(world, {
    id: newId('si', 14),
    object: 'subscription_item',
    current_period_end: current.period.end,
    current_period_start: current.period.start,
    metadata: mergeMetadata({}, param.metadata),
    price,
    ...(!isMetered(price) && { quantity: param.quantity ?? 1 }),
    subscription: current.subscription,
  })
}

/** The requested price, or null if the parameters have none. */
function priceFor(
  world: World,
  { price }: ItemParam,
  { current, index }: { current: CurrentItems; index: number },
): Stripe.Price | null {
  if (price === undefined) return null
  const param = `items[${index}][price]`
  const found = getRow(world, 'prices', price, param)
  if (!found.active) throw badRequest(`The price specified is inactive: ${price}`, { param })
  if (found.recurring === null) {
    throw badRequest(`The price specified is not recurring: ${price}`, { param })
  }
  const currency = world.state.currencies.get(current.subscription)
  if (currency !== undefined) requireOffered(world, found, currency)
  return found
}
