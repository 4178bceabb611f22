import type Stripe from 'stripe'
import * as v from 'valibot'
import { ProrationParams } from '../billing/change-params.ts'
import { changeSubscription } from '../billing/change-subscription.ts'
import type { ItemParam } from '../billing/item-params.ts'
import { listPage } from '../http/list.ts'
import { Flag, Integer, Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { missing } from '../http/stripe-error.ts'
import type { World } from '../world.ts'
import { getSubscription } from './subscriptions.ts'

const PriceParams = {
  ...ProrationParams,
  price: v.optional(Text),
  quantity: v.optional(Integer),
  metadata: v.optional(Metadata),
}

const CreateParams = v.strictObject({ ...PriceParams, subscription: Text })
const UpdateParams = v.strictObject(PriceParams)
const DeleteParams = v.strictObject({ ...ProrationParams, clear_usage: v.optional(Flag) })

export const subscriptionItemRoutes: readonly Route[] = [
  route('POST /v1/subscription_items', CreateParams, ({ world, params }) => {
    const { subscription, ...item } = params
    const row = getSubscription(world, subscription, 'subscription')
    const changed = changeSubscription(world, row, oneItem(item))
    return changed.items.data.at(-1) ?? changed
  }),
  route('GET /v1/subscription_items', v.strictObject({ ...Page, subscription: Text }), (call) => {
    const { items } = getSubscription(call.world, call.params.subscription, 'subscription')
    return listPage('/v1/subscription_items', items.data, call.params)
  }),
  route('GET /v1/subscription_items/:id', Nothing, ({ world, id }) => ownerOf(world, id).item),
  route('POST /v1/subscription_items/:id', UpdateParams, ({ world, params, id }) => {
    const { subscription } = ownerOf(world, id)
    changeSubscription(world, subscription, oneItem({ ...params, id }))
    return ownerOf(world, id).item
  }),
  route('DELETE /v1/subscription_items/:id', DeleteParams, ({ world, params, id }) => {
    const { subscription } = ownerOf(world, id)
    changeSubscription(world, subscription, oneItem({ ...params, id, deleted: true }))
    return {
      id,
      object: 'subscription_item',
      deleted: true,
    } satisfies Stripe.DeletedSubscriptionItem
  }),
]

function oneItem(params: ItemParam & v.InferOutput<typeof UpdateParams>) {
  const { proration_behavior, proration_date, ...item } = params
  return { items: [item], proration_behavior, proration_date }
}

function ownerOf(world: World, id: string) {
  for (const subscription of world.state.tables.subscriptions.values()) {
    const item = subscription.items.data.find((row) => row.id === id)
    if (item !== undefined) return { subscription, item }
  }
  throw missing('subscription_item', id)
}
