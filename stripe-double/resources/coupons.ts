import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Decimal, Integer, Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { addRow, getRow, type World } from '../world.ts'
import { mergeMetadata } from './metadata.ts'

const CreateParams = v.strictObject({
  id: v.optional(Text),
  name: v.optional(Text),
  amount_off: v.optional(Integer),
  applies_to: v.optional(v.strictObject({ products: v.array(Text) })),
  currency: v.optional(Text),
  percent_off: v.optional(Decimal),
  duration: v.optional(v.picklist(['once', 'repeating', 'forever'])),
  duration_in_months: v.optional(Integer),
  max_redemptions: v.optional(Integer),
  redeem_by: v.optional(Integer),
  metadata: v.optional(Metadata),
})

export const couponRoutes: readonly Route[] = [
  route('POST /v1/coupons', CreateParams, ({ world, params }) => addCoupon(world, params)),
  route('GET /v1/coupons', v.strictObject(Page), ({ world, params }) =>
    listPage('/v1/coupons', world.state.tables.coupons.values(), params),
  ),
  route('GET /v1/coupons/:id', Nothing, ({ world, id }) => getCoupon(world, id)),
  route('DELETE /v1/coupons/:id', Nothing, ({ world, id }) => {
    getCoupon(world, id)
    world.state.tables.coupons.delete(id)
    return { id, object: 'coupon', deleted: true } satisfies Stripe.DeletedCoupon
  }),
]

export function getCoupon(world: World, id: string, param?: string): Stripe.Coupon {
  return getRow(world.state.tables.coupons, id, 'coupon', param)
}

/** Whether the coupon can still be redeemed. */
export function isRedeemable(coupon: Stripe.Coupon, now: number): boolean {
  const { max_redemptions, redeem_by, times_redeemed } = coupon
  if (max_redemptions !== null && times_redeemed >= max_redemptions) return false
  return redeem_by === null || now < redeem_by
}

function addCoupon(world: World, params: v.InferOutput<typeof CreateParams>): Stripe.Coupon {
  requireOneReduction(params)
  const { amount_off = null, currency = null, percent_off = null, redeem_by = null } = params
  const { duration = 'once', duration_in_months = null, max_redemptions = null } = params
  const coupon: Stripe.Coupon = {
    id: params.id ?? newId('co', 8).slice(3),
    object: 'coupon',
    amount_off,
    created: world.now(),
    currency,
    duration,
    duration_in_months,
    livemode: false,
    max_redemptions,
    metadata: mergeMetadata({}, params.metadata),
    name: params.name ?? null,
    percent_off,
    redeem_by,
    times_redeemed: 0,
    valid: true,
  }
  if (params.applies_to !== undefined) world.state.couponProducts.set(coupon.id, params.applies_to)
  return addRow(world, world.state.tables.coupons, coupon, 'coupon.created')
}

function requireOneReduction(params: v.InferOutput<typeof CreateParams>): void {
  if ((params.percent_off === undefined) === (params.amount_off === undefined)) {
    throw badRequest('Must pass exactly one of percent_off, amount_off', { param: 'percent_off' })
  }
  if (params.amount_off !== undefined && params.currency === undefined) {
    throw badRequest('Must pass currency with amount_off', { param: 'currency' })
  }
}
