import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Flag, Integer, Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { addRow, changeRow, getRow, type World } from '../world.ts'
import { getCoupon } from './coupons.ts'
import { getCustomer } from './customers.ts'
import { mergeMetadata } from './metadata.ts'

const CreateParams = v.strictObject({
  promotion: v.strictObject({ type: v.literal('coupon'), coupon: Text }),
  active: v.optional(Flag),
  code: v.optional(Text),
  customer: v.optional(Text),
  expires_at: v.optional(Integer),
  max_redemptions: v.optional(Integer),
  metadata: v.optional(Metadata),
  restrictions: v.optional(
    v.strictObject({
      first_time_transaction: v.optional(Flag),
      minimum_amount: v.optional(Integer),
      minimum_amount_currency: v.optional(Text),
    }),
  ),
})

const UpdateParams = v.strictObject({ active: v.optional(Flag), metadata: v.optional(Metadata) })

const ListParams = v.strictObject({
  ...Page,
  active: v.optional(Flag),
  code: v.optional(Text),
  coupon: v.optional(Text),
  customer: v.optional(Text),
})

export const promotionCodeRoutes: readonly Route[] = [
  route('POST /v1/promotion_codes', CreateParams, ({ world, params }) =>
    addPromotionCode(world, params),
  ),
  route('GET /v1/promotion_codes', ListParams, ({ world, params }) => {
    const codes = [...world.state.tables.promotionCodes.values()].filter(
      (row) =>
        (params.active === undefined || params.active === row.active) &&
        (params.coupon === undefined || params.coupon === row.promotion.coupon) &&
        (params.customer === undefined || params.customer === row.customer) &&
        (params.code === undefined || isSameCode(params.code, row.code)),
    )
    return listPage('/v1/promotion_codes', codes, params)
  }),
  route('GET /v1/promotion_codes/:id', Nothing, ({ world, id }) => getCode(world, id)),
  route('POST /v1/promotion_codes/:id', UpdateParams, ({ world, params, id }) => {
    const row = getCode(world, id)
    const metadata = mergeMetadata(row.metadata ?? {}, params.metadata)
    const changes = { active: params.active ?? row.active, metadata }
    const { promotionCodes } = world.state.tables
    return changeRow(world, promotionCodes, { row, changes }, 'promotion_code.updated')
  }),
]

/** The active code, upper and lower case being the same, or null. */
export function findActiveCode(world: World, code: string): Stripe.PromotionCode | null {
  const codes = [...world.state.tables.promotionCodes.values()]
  return codes.find((row) => row.active && isSameCode(row.code, code)) ?? null
}

function isSameCode(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase()
}

function getCode(world: World, id: string): Stripe.PromotionCode {
  return getRow(world.state.tables.promotionCodes, id, 'promotion code')
}

function addPromotionCode(
  world: World,
  params: v.InferOutput<typeof CreateParams>,
): Stripe.PromotionCode {
  const code = params.code ?? newId('code', 8).slice(5).toUpperCase()
  if (findActiveCode(world, code) !== null) {
    throw badRequest('An active promotion code with `code` already exists', { param: 'code' })
  }
  if (params.customer !== undefined) getCustomer(world, params.customer, 'customer')
  const { first_time_transaction = false, ...minimum } = params.restrictions ?? {}
  const row: Stripe.PromotionCode = {
    id: newId('promo'),
    object: 'promotion_code',
    active: params.active ?? true,
    code,
    created: world.now(),
    customer: params.customer ?? null,
    customer_account: null,
    expires_at: params.expires_at ?? null,
    livemode: false,
    max_redemptions: params.max_redemptions ?? null,
    metadata: mergeMetadata({}, params.metadata),
    promotion: {
      type: 'coupon',
      coupon: getCoupon(world, params.promotion.coupon, 'promotion[coupon]').id,
    },
    restrictions: {
      first_time_transaction,
      minimum_amount: minimum.minimum_amount ?? null,
      minimum_amount_currency: minimum.minimum_amount_currency ?? null,
    },
    times_redeemed: 0,
  }
  return addRow(world, world.state.tables.promotionCodes, row, 'promotion_code.created')
}
