import Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Decimal, Flag, Integer, Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { addRow, changeRow, getRow, type World } from '../world.ts'
import { mergeMetadata } from './metadata.ts'
import { addProduct } from './products.ts'

const Recurring = v.strictObject({
  interval: v.picklist(['day', 'week', 'month', 'year']),
  interval_count: v.optional(Integer),
  meter: v.optional(Text),
  usage_type: v.optional(v.picklist(['licensed', 'metered'])),
})

const CreateParams = v.strictObject({
  currency: Text,
  active: v.optional(Flag),
  lookup_key: v.optional(Text),
  metadata: v.optional(Metadata),
  nickname: v.optional(Text),
  product: v.optional(Text),
  product_data: v.optional(v.strictObject({ name: Text, metadata: v.optional(Metadata) })),
  recurring: v.optional(Recurring),
  unit_amount: v.optional(Integer),
  unit_amount_decimal: v.optional(Decimal),
})

const UpdateParams = v.strictObject({
  active: v.optional(Flag),
  lookup_key: v.optional(Text),
  metadata: v.optional(Metadata),
  nickname: v.optional(Text),
})

const ListParams = v.strictObject({
  ...Page,
  active: v.optional(Flag),
  lookup_keys: v.optional(v.array(Text)),
  product: v.optional(Text),
})

export const priceRoutes: readonly Route[] = [
  route('POST /v1/prices', CreateParams, ({ world, params }) => addPrice(world, params)),
  route('GET /v1/prices', ListParams, ({ world, params }) => {
    const { active, lookup_keys, product } = params
    const prices = [...world.state.tables.prices.values()].filter(
      (price) =>
        (active === undefined || active === price.active) &&
        (product === undefined || product === price.product) &&
        (lookup_keys === undefined || lookup_keys.includes(price.lookup_key ?? '')),
    )
    return listPage('/v1/prices', prices, params)
  }),
  route('GET /v1/prices/:id', Nothing, ({ world, id }) => getPrice(world, id)),
  route('POST /v1/prices/:id', UpdateParams, ({ world, params, id }) => {
    const row = getPrice(world, id)
    const { active = row.active, lookup_key = row.lookup_key, nickname = row.nickname } = params
    const metadata = mergeMetadata(row.metadata, params.metadata)
    const changes = { active, lookup_key, nickname, metadata }
    return changeRow(world, world.state.tables.prices, { row, changes }, 'price.updated')
  }),
]

export function getPrice(world: World, id: string, param?: string): Stripe.Price {
  return getRow(world.state.tables.prices, id, 'price', param)
}

export function isMetered(price: Stripe.Price): boolean {
  return price.recurring?.usage_type === 'metered'
}

export function addPrice(world: World, params: v.InferOutput<typeof CreateParams>): Stripe.Price {
  const amount = params.unit_amount_decimal ?? params.unit_amount
  if (amount === undefined) {
    throw badRequest('Missing required param: unit_amount.', {
      code: 'parameter_missing',
      param: 'unit_amount',
    })
  }
  const price: Stripe.Price = {
    id: newId('price'),
    object: 'price',
    active: params.active ?? true,
    billing_scheme: 'per_unit',
    created: world.now(),
    currency: params.currency.toLowerCase(),
    custom_unit_amount: null,
    livemode: false,
    lookup_key: params.lookup_key ?? null,
    metadata: mergeMetadata({}, params.metadata),
    nickname: params.nickname ?? null,
    product: productOf(world, params),
    recurring: params.recurring === undefined ? null : toRecurring(world, params.recurring),
    tax_behavior: 'unspecified',
    tiers_mode: null,
    transform_quantity: null,
    type: params.recurring === undefined ? 'one_time' : 'recurring',
    unit_amount: Number.isInteger(amount) ? amount : null,
    unit_amount_decimal: Stripe.Decimal.from(amount),
  }
  return addRow(world, world.state.tables.prices, price, 'price.created')
}

function productOf(world: World, params: v.InferOutput<typeof CreateParams>): string {
  if (params.product_data !== undefined) return addProduct(world, params.product_data).id
  return getRow(world.state.tables.products, params.product ?? '', 'product', 'product').id
}

function toRecurring(
  world: World,
  { interval, interval_count = 1, meter, usage_type = 'licensed' }: v.InferOutput<typeof Recurring>,
): Stripe.Price.Recurring {
  if (usage_type === 'metered' && meter === undefined) {
    throw badRequest('A metered price must be backed by a meter', { param: 'recurring[meter]' })
  }
  if (meter !== undefined) {
    getRow(world.state.tables.meters, meter, 'meter', 'recurring[meter]')
  }
  return { interval, interval_count, meter: meter ?? null, trial_period_days: null, usage_type }
}
