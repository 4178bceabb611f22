import type Stripe from 'stripe'
import * as v from 'valibot'
import { Decimal, Integer, optional, Text } from '../../http/params.ts'
import { Nothing, type Route, route } from '../../http/route.ts'
import { badRequest } from '../../http/stripe-error.ts'
import { newId } from '../../ids.ts'
import { newObject } from '../../new-object.ts'
import { addRow, changeRow, getRow, type World } from '../../world.ts'

const CreateParams = optional({
  amount_off: Integer,
  applies_to: v.strictObject({ products: v.array(Text) }),
  currency: Text,
  percent_off: Decimal,
  duration: v.picklist(['once', 'repeating', 'forever']),
  duration_in_months: Integer,
})

export const couponRoutes: readonly Route[] = [
  route('POST /v1/coupons', CreateParams, ({ world, params }) => addCoupon(world, params)),
  // Discounts of a deleted coupon go on.
  route('DELETE /v1/coupons/:id', Nothing, ({ world, id }) => {
    changeRow(world, getRow(world, 'coupons', id), { valid: false }, 'coupon.deleted')
    return { id, object: 'coupon', deleted: true }
  }),
]

function addCoupon(world: World, params: v.InferOutput<typeof CreateParams>): Stripe.Coupon {
  requireConsistent(params)
  const { amount_off = null, percent_off = null } = params
  const currency = params.currency?.toLowerCase() ?? null
  const { duration = 'once', duration_in_months = null } = params
  const coupon = newObject<Stripe.Coupon>(world, {
    id: newId('co', 8).slice(3),
    object: 'coupon',
    amount_off,
    currency,
    duration,
    duration_in_months,
    percent_off,
  })
  for (const product of params.applies_to?.products ?? []) {
    getRow(world, 'products', product, 'applies_to[products]')
  }
  if (params.applies_to !== undefined) world.state.couponProducts.set(coupon.id, params.applies_to)
  return addRow(world, 'coupons', coupon, 'coupon.created')
}

function requireConsistent(params: v.InferOutput<typeof CreateParams>): void {
  if ((params.percent_off === undefined) === (params.amount_off === undefined)) {
    throw badRequest('Must pass exactly one of percent_off, amount_off', { param: 'percent_off' })
  }
  if (params.amount_off !== undefined && params.currency === undefined) {
    throw badRequest('Must pass currency with amount_off', { param: 'currency' })
  }
  if ((params.duration === 'repeating') !== (params.duration_in_months !== undefined)) {
    const message = 'Must pass duration_in_months if, and only if, duration is repeating'
    throw badRequest(message, { param: 'duration_in_months' })
  }
}
