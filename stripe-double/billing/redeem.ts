import type Stripe from 'stripe'
import * as v from 'valibot'
import { Text } from '../http/params.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { getCoupon, isRedeemable } from '../resources/coupons.ts'
import { addRow, getRow, type World } from '../world.ts'
import { addMonths } from './period.ts'

/** The list replaces what is there: what is to stay comes as `{discount: id}`. */
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
  readonly subscription: string | null
  readonly checkoutSession?: string
}

/** The ids of the discounts that `params` ask for; new ones are made. Checks before it makes. */
export function toDiscounts(
  world: World,
  params: v.InferOutput<typeof DiscountParams>,
  holder: Holder,
): string[] {
  if (params === '') return []
  const plans = params.map((param, index) => planDiscount(world, param, { holder, index }))
  return plans.map((make) => make())
}

/** Whether the customer may use the code. Throws Stripe's 400 where not. */
export function requireUsable(
  world: World,
  code: Stripe.PromotionCode,
  { customer, param }: { customer: string; param: string },
): void {
  const refuse = (message: string) => badRequest(message, { param })
  const { expires_at, max_redemptions, times_redeemed } = code
  const isOver = expires_at !== null && world.now() >= expires_at
  const isSpent = max_redemptions !== null && times_redeemed >= max_redemptions
  if (!code.active || isOver || isSpent) throw refuse('This promotion code is not active.')
  if (code.customer !== null && code.customer !== customer) {
    throw refuse('This promotion code cannot be redeemed by this customer.')
  }
  if (code.restrictions.first_time_transaction && hasPaid(world, customer)) {
    throw refuse(
      'This promotion code cannot be redeemed because the associated customer has prior transactions.',
    )
  }
}

function planDiscount(
  world: World,
  param: DiscountParam,
  { holder, index }: { holder: Holder; index: number },
): () => string {
  if ('discount' in param) {
    const { discounts } = world.state.tables
    const { id } = getRow(discounts, param.discount, 'discount', `discounts[${index}][discount]`)
    return () => id
  }
  const code = 'coupon' in param ? null : usableCode(world, param.promotion_code, { holder, index })
  const couponId = 'coupon' in param ? param.coupon : String(code?.promotion.coupon)
  const name = `discounts[${index}][coupon]`
  const coupon = getCoupon(world, couponId, name)
  if (!isRedeemable(coupon, world.now())) {
    const more = { code: 'coupon_expired', param: name }
    throw badRequest(`Coupon expired: ${coupon.id}`, more)
  }
  return () => redeem(world, { coupon, code }, holder)
}

function usableCode(
  world: World,
  id: string,
  { holder, index }: { holder: Holder; index: number },
): Stripe.PromotionCode {
  const param = `discounts[${index}][promotion_code]`
  const code = getRow(world.state.tables.promotionCodes, id, 'promotion code', param)
  requireUsable(world, code, { customer: holder.customer, param })
  return code
}

function redeem(
  world: World,
  { coupon, code }: { coupon: Stripe.Coupon; code: Stripe.PromotionCode | null },
  holder: Holder,
): string {
  const { coupons, discounts, promotionCodes } = world.state.tables
  const redeemed = { ...coupon, times_redeemed: coupon.times_redeemed + 1 }
  coupons.set(coupon.id, redeemed)
  if (code !== null) {
    promotionCodes.set(code.id, { ...code, times_redeemed: code.times_redeemed + 1 })
  }
  const months = coupon.duration === 'repeating' ? coupon.duration_in_months : null
  const discount: Stripe.Discount = {
    id: newId('di'),
    object: 'discount',
    checkout_session: holder.checkoutSession ?? null,
    customer: holder.customer,
    customer_account: null,
    end: months === null ? null : addMonths(world.now(), months),
    invoice: null,
    invoice_item: null,
    promotion_code: code?.id ?? null,
    source: { type: 'coupon', coupon: coupon.id },
    start: world.now(),
    subscription: holder.subscription,
    subscription_item: null,
  }
  return addRow(world, discounts, discount, 'customer.discount.created').id
}

function hasPaid(world: World, customer: string): boolean {
  const invoices = [...world.state.tables.invoices.values()]
  return invoices.some((invoice) => invoice.customer === customer && invoice.amount_paid > 0)
}
