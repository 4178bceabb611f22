import type Stripe from 'stripe'
import * as v from 'valibot'
import { Text } from '../http/params.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { addRow, changeRow, getRow, rowsOf, type World } from '../world.ts'
import { addMonths } from './period.ts'

/** The list replaces the current discounts. `{discount: id}` keeps one of them. */
export const DiscountParams = v.union([
  v.literal(''),
  v.array(
    v.union([
      v.strictObject({ coupon: Text }),
      v.strictObject({ promotion_code: Text }),
      v.strictObject({ discount: Text }),
    ]),
  ),
])

type DiscountParam = Exclude<v.InferOutput<typeof DiscountParams>, ''>[number]

interface Holder {
  readonly customer: string
  readonly subscription: string
  readonly currency: string
}

/** Redeems the codes in `params` and keeps the named discounts. Returns the ids. If one is refused, nothing changes. */
export function redeemDiscounts(
  world: World,
  params: v.InferOutput<typeof DiscountParams>,
  holder: Holder,
): string[] {
  if (params === '') return []
  const checked = params.map((param, index) => checkDiscount(world, param, { holder, index }))
  return checked.map((redeemOrKeep) => redeemOrKeep())
}

/** Throws Stripe's 400 unless the customer may use the code. */
export function requireUsable(
  world: World,
  code: Stripe.PromotionCode,
  { customer, param }: { customer: string; param: string },
): void {
  const refuse = (message: string) => badRequest(message, { param })
  const { expires_at, max_redemptions, times_redeemed } = code
  const isExpired = expires_at !== null && world.now() >= expires_at
  const isSpent = max_redemptions !== null && times_redeemed >= max_redemptions
  if (!code.active || isExpired || isSpent) throw refuse('This promotion code is not active.')
  if (code.customer !== null && code.customer !== customer) {
    throw refuse('This promotion code cannot be redeemed by this customer.')
  }
  if (code.restrictions.first_time_transaction && hasPaid(world, customer)) {
    throw refuse(
      'This promotion code cannot be redeemed because the associated customer has prior transactions.',
    )
  }
}

/** Checks one parameter. The returned function redeems it and returns the id of the discount. */
function checkDiscount(
  world: World,
  param: DiscountParam,
  { holder, index }: { holder: Holder; index: number },
): () => string {
  const nameOf = (field: string) => `discounts[${index}][${field}]`
  if ('discount' in param) {
    const { id } = getRow(world, 'discounts', param.discount, nameOf('discount'))
    return () => id
  }
  if ('coupon' in param) {
    const coupon = getRow(world, 'coupons', param.coupon, nameOf('coupon'))
    requireCurrency(coupon, holder, nameOf('coupon'))
    return () => redeem(world, { coupon, code: null }, holder)
  }
  const name = nameOf('promotion_code')
  const code = getRow(world, 'promotionCodes', param.promotion_code, name)
  requireUsable(world, code, { customer: holder.customer, param: name })
  const coupon = getRow(world, 'coupons', String(code.promotion.coupon))
  requireCurrency(coupon, holder, name)
  return () => redeem(world, { coupon, code }, holder)
}

function requireCurrency({ currency }: Stripe.Coupon, holder: Holder, param: string): void {
  if (currency === null || currency === holder.currency) return
  const message = `The coupon's currency, \`${currency}\`, does not match the expected currency: \`${holder.currency}\`.`
  throw badRequest(message, { param })
}

function redeem(
  world: World,
  { coupon, code }: { coupon: Stripe.Coupon; code: Stripe.PromotionCode | null },
  holder: Holder,
): string {
  if (code !== null) changeRow(world, code, { times_redeemed: code.times_redeemed + 1 })
  changeRow(world, coupon, { times_redeemed: coupon.times_redeemed + 1 })
  const months = coupon.duration === 'repeating' ? coupon.duration_in_months : null
  const discount = newObject<Stripe.Discount>(world, {
    id: newId('di'),
    object: 'discount',
    customer: holder.customer,
    end: months === null ? null : addMonths(world.now(), months),
    promotion_code: code?.id ?? null,
    source: { type: 'coupon', coupon: coupon.id },
    start: world.now(),
    subscription: holder.subscription,
  })
  return addRow(world, 'discounts', discount, 'customer.discount.created').id
}

function hasPaid(world: World, customer: string): boolean {
  const rows = rowsOf(world, 'invoices')
  return rows.some((invoice) => invoice.customer === customer && invoice.amount_paid > 0)
}
