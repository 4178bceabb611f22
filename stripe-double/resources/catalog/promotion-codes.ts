import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../../http/list.ts'
import { Flag, Integer, optional, Page, Text, withOptional } from '../../http/params.ts'
import { Nothing, type Route, route } from '../../http/route.ts'
import { badRequest } from '../../http/stripe-error.ts'
import { newId } from '../../ids.ts'
import { newObject } from '../../new-object.ts'
import { addRow, getRow, rowsOf, type World } from '../../world.ts'

const CreateParams = withOptional(
  { promotion: v.strictObject({ type: v.literal('coupon'), coupon: Text }) },
  {
    active: Flag,
    code: Text,
    customer: Text,
    expires_at: Integer,
    max_redemptions: Integer,
    restrictions: optional({
      first_time_transaction: Flag,
      minimum_amount: Integer,
      minimum_amount_currency: Text,
    }),
  },
)

const ListParams = optional({ ...Page.entries, active: Flag, code: Text })

export const promotionCodeRoutes: readonly Route[] = [
  route('POST /v1/promotion_codes', CreateParams, ({ world, params }) =>
    addPromotionCode(world, params),
  ),
  route('GET /v1/promotion_codes', ListParams, ({ world, params }) => {
    const rows = rowsOf(world, 'promotionCodes').filter(
      ({ active, code }) =>
        (params.active ?? active) === active && isSameCode(params.code ?? code, code),
    )
    return listPage('/v1/promotion_codes', rows, params)
  }),
  route('GET /v1/promotion_codes/:id', Nothing, ({ world, id }) =>
    getRow(world, 'promotionCodes', id),
  ),
]

/** Finds the active code, ignoring case. */
export function findActiveCode(world: World, code: string): Stripe.PromotionCode | null {
  const codes = rowsOf(world, 'promotionCodes')
  return codes.find((row) => row.active && isSameCode(row.code, code)) ?? null
}

function isSameCode(one: string, other: string): boolean {
  return one.toUpperCase() === other.toUpperCase()
}

function addPromotionCode(world: World, params: v.InferOutput<typeof CreateParams>) {
  const code = params.code ?? newId('code', 8).slice(5).toUpperCase()
  if (findActiveCode(world, code) !== null) {
    throw badRequest('An active promotion code with `code` already exists', { param: 'code' })
  }
  if (params.customer !== undefined) getRow(world, 'customers', params.customer, 'customer')
  const { first_time_transaction = false, ...minimum } = params.restrictions ?? {}
  const row = newObject<Stripe.PromotionCode>(world, {
    id: newId('promo'),
    object: 'promotion_code',
    active: params.active ?? true,
    code,
    customer: params.customer ?? null,
    expires_at: params.expires_at ?? null,
    max_redemptions: params.max_redemptions ?? null,
    promotion: {
      type: 'coupon',
      coupon: getRow(world, 'coupons', params.promotion.coupon, 'promotion[coupon]').id,
    },
    restrictions: {
      first_time_transaction,
      minimum_amount: minimum.minimum_amount ?? null,
      minimum_amount_currency: minimum.minimum_amount_currency ?? null,
    },
    times_redeemed: 0,
  })
  return addRow(world, 'promotionCodes', row, 'promotion_code.created')
}
