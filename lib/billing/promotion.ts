import type Stripe from 'stripe'
import type { Discount } from '../contract/billing-schemas.ts'
import { ApiError } from '../errors.ts'
import type { Actor } from './actor.ts'
import type { Billing } from './billing.ts'
import { findActive, toDiscount, wholeDiscounts } from './discounts.ts'
import { isApplicable, isFor } from './promotion-terms.ts'
import { refusedAs, type StripeCalls } from './stripe-calls.ts'
import { withSubscription } from './with-subscription.ts'

const CODE = /^[\w-]+$/
const NOT_USABLE = 'The promotion code cannot be used for this subscription'

/**
 * Puts the promotion code in the place of the discounts of the subscription. One that is there
 * already stays as it is, so that nobody gains time by entering it again. Throws BAD_REQUEST for a
 * code that is unknown, over, or not for this subscription.
 */
export function applyPromotion(billing: Billing, actor: Actor, text: string): Promise<Discount> {
  const code = text.trim()
  return withSubscription(billing, actor.userId, async (calls, { id }) => {
    const subscription = await calls.read((stripe, options) =>
      stripe.subscriptions.retrieve(id, { expand: wholeDiscounts('discounts') }, options),
    )
    const promotion = await findPromotion(calls, code, idOf(subscription.customer))
    if (promotion === null) throw badRequest('The promotion code is not valid')
    const current = findActive(subscription.discounts, actor.now)
    if (current !== null && isOf(current, promotion)) return toDiscount(current)
    if (!isApplicable(promotion, subscription)) throw badRequest(NOT_USABLE)
    const discount = await replaceDiscounts(calls, id, promotion)
    const target = { targetType: 'subscription', targetId: id, detail: promotion.code }
    await billing.change([actor.audit({ action: 'apply_promo', ...target })])
    return discount
  })
}

/** Codes of one text may be kept for one customer each. */
async function findPromotion(
  calls: StripeCalls,
  code: string,
  customer: string,
): Promise<Stripe.PromotionCode | null> {
  if (!CODE.test(code)) return null
  const expand = ['data.promotion.coupon.applies_to']
  const { data } = await calls.read((stripe, options) =>
    stripe.promotionCodes.list({ code, active: true, limit: 100, expand }, options),
  )
  return data.find((promotion) => isFor(promotion, customer)) ?? null
}

async function replaceDiscounts(
  calls: StripeCalls,
  id: string,
  promotion: Stripe.PromotionCode,
): Promise<Discount> {
  const change = {
    discounts: [{ promotion_code: promotion.id }],
    expand: wholeDiscounts('discounts'),
  }
  const { discounts } = await calls
    .write((stripe, options) => stripe.subscriptions.update(id, change, options))
    .catch(refusedAs('BAD_REQUEST', NOT_USABLE))
  const [discount] = discounts
  if (typeof discount === 'object') return toDiscount(discount)
  throw new Error('The payment processor does not tell of the discount that it has given')
}

function isOf({ promotion_code }: Stripe.Discount, { id }: Stripe.PromotionCode): boolean {
  return promotion_code !== null && idOf(promotion_code) === id
}

function idOf(object: string | { readonly id: string }): string {
  return typeof object === 'string' ? object : object.id
}

function badRequest(message: string): ApiError {
  return new ApiError('BAD_REQUEST', message)
}
