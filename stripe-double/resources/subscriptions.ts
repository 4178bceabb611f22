import type Stripe from 'stripe'
import * as v from 'valibot'
import { ChangeParams } from '../billing/change-params.ts'
import { changeSubscription } from '../billing/change-subscription.ts'
import { endSubscription } from '../billing/end-subscription.ts'
import { ItemParams } from '../billing/item-params.ts'
import { DiscountParams } from '../billing/redeem.ts'
import { startSubscription } from '../billing/start-subscription.ts'
import { isWithin, listPage } from '../http/list.ts'
import { Created, Flag, Integer, Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { changeRow, emit, getRow, type World } from '../world.ts'
import { getCustomer } from './customers.ts'
import { mergeMetadata } from './metadata.ts'
import { requireOwnMethod } from './own-method.ts'

const CreateParams = v.strictObject({
  customer: Text,
  items: v.pipe(v.array(ItemParams), v.minLength(1, 'at least one item')),
  billing_mode: v.optional(v.strictObject({ type: v.literal('flexible') })),
  default_payment_method: v.optional(Text),
  description: v.optional(Text),
  discounts: v.optional(DiscountParams),
  metadata: v.optional(Metadata),
  off_session: v.optional(Flag),
  payment_behavior: v.optional(
    v.picklist(['allow_incomplete', 'default_incomplete', 'error_if_incomplete']),
  ),
  trial_end: v.optional(Integer),
  trial_period_days: v.optional(Integer),
})

const CancelParams = v.strictObject({
  cancellation_details: v.optional(
    v.strictObject({ comment: v.optional(Text), feedback: v.optional(Text) }),
  ),
  invoice_now: v.optional(v.picklist(['false'])),
  prorate: v.optional(v.picklist(['false'])),
})

const ListParams = v.strictObject({
  ...Page,
  created: v.optional(Created),
  customer: v.optional(Text),
  price: v.optional(Text),
  status: v.optional(Text),
})

export const subscriptionRoutes: readonly Route[] = [
  route('POST /v1/subscriptions', CreateParams, ({ world, params }) => create(world, params)),
  route('GET /v1/subscriptions', ListParams, ({ world, params }) => {
    const rows = [...world.state.tables.subscriptions.values()].filter(
      (row) =>
        isOfStatus(row, params.status) &&
        isWithin(row.created, params.created) &&
        (params.customer === undefined || params.customer === row.customer) &&
        (params.price === undefined ||
          row.items.data.some(({ price }) => price.id === params.price)),
    )
    return listPage('/v1/subscriptions', rows, params)
  }),
  route('GET /v1/subscriptions/:id', Nothing, ({ world, id }) => getSubscription(world, id)),
  route('POST /v1/subscriptions/:id', ChangeParams, ({ world, params, id }) =>
    changeSubscription(world, getSubscription(world, id), params),
  ),
  route('DELETE /v1/subscriptions/:id', CancelParams, ({ world, id }) => {
    const row = getSubscription(world, id)
    if (row.status !== 'canceled') return endSubscription(world, row, 'cancellation_requested')
    throw badRequest(`No such subscription: '${id}'`, { code: 'resource_missing', param: 'id' })
  }),
  route('DELETE /v1/subscriptions/:id/discount', Nothing, ({ world, id }) => {
    const row = getSubscription(world, id)
    const { discounts, subscriptions } = world.state.tables
    const last = discounts.get(String(row.discounts.at(-1)))
    if (last === undefined) throw badRequest('No active discount for subscription')
    const changes = { discounts: row.discounts.filter((one) => one !== last.id) }
    changeRow(world, subscriptions, { row, changes }, 'customer.subscription.updated')
    emit(world, 'customer.discount.deleted', last)
    return { ...last, deleted: true }
  }),
]

export function getSubscription(world: World, id: string, param?: string): Stripe.Subscription {
  return getRow(world.state.tables.subscriptions, id, 'subscription', param)
}

/** Without a status: all but the canceled ones, as Stripe. */
function isOfStatus({ status }: Stripe.Subscription, asked = 'not-canceled'): boolean {
  if (asked === 'all') return true
  if (asked === 'not-canceled') return status !== 'canceled'
  if (asked === 'ended') return status === 'canceled' || status === 'incomplete_expired'
  return status === asked
}

function create(world: World, params: v.InferOutput<typeof CreateParams>): Stripe.Subscription {
  const { trial_period_days: days, trial_end = null, default_payment_method: method } = params
  requireOwnMethod(world, params.customer, { id: method, param: 'default_payment_method' })
  return startSubscription(world, {
    customer: getCustomer(world, params.customer, 'customer').id,
    items: params.items,
    discounts: params.discounts ?? '',
    trialEnd: days === undefined ? trial_end : world.now() + days * 86_400,
    defaultMethod: method ?? null,
    metadata: mergeMetadata({}, params.metadata),
    description: params.description ?? null,
    paymentBehavior: params.payment_behavior ?? 'allow_incomplete',
  })
}
