import type Stripe from 'stripe'
import type { Discount } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import { getCustomer } from './customers.ts'
import { idOf, type StripeCalls } from './stripe-calls.ts'
import { ifRefused } from './stripe-refusal.ts'

const CODE = /^[\w-]+$/
const MAX_INVOICES = 100
const NOT_USABLE = 'The promotion code cannot be used for this subscription'

export function discountCalls(calls: StripeCalls) {
  const { read, write } = calls
  const expand = expanded('discounts')
  const getSubscription = (id: string, more: readonly string[] = []) =>
    read((sdk, options) =>
      sdk.subscriptions.retrieve(id, { expand: [...expand, ...more] }, options),
    )
  return {
    /** Returns the active discount of the subscription, if any, or else of the customer. */
    findDiscount: async (
      customer: string,
      subscription: string | undefined,
      now: number,
    ): Promise<Discount | undefined> => {
      const { discount } = await getCustomer(calls, customer, expanded('discount'))
      const own = subscription === undefined ? [] : (await getSubscription(subscription)).discounts
      return findActive([...own, discount], now)?.discount
    },

    /**
     * Gives the subscription the discount of the code. `applied` is the code, or null if its discount is
     * already active: then nothing changes. Throws BAD_REQUEST if another discount of the subscription or the
     * customer is active, which it would replace, or if the code has lowered an invoice, because Stripe would
     * start its discount again.
     */
    applyPromotion: async (id: string, code: string, now: number) => {
      const subscription = await getSubscription(id, expanded('customer.discount'))
      const promotion = await findPromotion(calls, code, idOf(subscription.customer))
      const current = findActive([...subscription.discounts, ofCustomer(subscription)], now)
      if (current?.promotionId === promotion.id) {
        return { discount: current.discount, applied: null }
      }
      requireApplicable(promotion, subscription)
      if (await hasLoweredInvoice(calls, subscription, promotion.id)) {
        throw new ApiError('BAD_REQUEST', 'The promotion code was used before')
      }
      requireNoDiscount(current)
      const change = { discounts: [{ promotion_code: promotion.id }], expand }
      const { discounts } = await write((sdk, options) =>
        sdk.subscriptions.update(id, change, options),
      ).catch(ifRefused(NOT_USABLE))
      const [given] = discounts.flatMap(toDiscounts)
      if (given === undefined) throw new Error('Stripe did not return the discount that it applied')
      return { discount: given.discount, applied: promotion.code }
    },
  }
}

/** A discount of the subscription switches it off. Expects an expanded customer. */
function ofCustomer({ customer }: Stripe.Subscription): MaybeDiscount {
  return typeof customer === 'string' || customer.deleted ? null : customer.discount
}

/** A new discount would replace the active one for good, even if that is better. */
function requireNoDiscount(current: ReturnType<typeof findActive>): void {
  if (current === undefined) return
  throw new ApiError('BAD_REQUEST', 'A discount is active already: use the code when it has ended')
}

/** Whether the promotion has lowered an invoice of the customer. */
async function hasLoweredInvoice(
  { read }: StripeCalls,
  subscription: Stripe.Subscription,
  promotionId: string,
): Promise<boolean> {
  const customer = idOf(subscription.customer)
  const expand = ['data.total_discount_amounts.discount']
  const params = { customer, limit: MAX_INVOICES, expand }
  const { data } = await read((sdk, options) => sdk.invoices.list(params, options))
  return data
    .flatMap(({ total_discount_amounts: taken }) => taken ?? [])
    .some(({ discount }) => {
      const promotion = typeof discount === 'string' ? null : discount.promotion_code
      return promotion !== null && idOf(promotion) === promotionId
    })
}

/** Several customers may each have their own promotion with the same code. */
async function findPromotion(
  { read }: StripeCalls,
  code: string,
  customerId: string,
): Promise<Stripe.PromotionCode> {
  const expand = ['data.promotion.coupon.applies_to']
  const params = { code, active: true, limit: 100, expand }
  const found = CODE.test(code)
    ? await read((sdk, options) => sdk.promotionCodes.list(params, options))
    : { data: [] }
  const promotion = found.data.find(
    ({ customer }) => customer === null || idOf(customer) === customerId,
  )
  if (promotion !== undefined) return promotion
  throw new ApiError('BAD_REQUEST', 'The promotion code is not valid')
}

/**
 * Throws BAD_REQUEST if the code does not lower the price of the subscription. Stripe checks the
 * minimum and the products in its checkout, but not when a subscription is updated.
 */
function requireApplicable(
  { promotion: { coupon }, restrictions }: Stripe.PromotionCode,
  { currency, items }: Stripe.Subscription,
): void {
  const products = typeof coupon === 'object' ? coupon?.applies_to?.products : undefined
  const isForItem = items.data.some(({ price }) => products?.includes(idOf(price.product)))
  const { minimum_amount: minimum, minimum_amount_currency: minimumCurrency } = restrictions
  const amounts = items.data.map(({ price, quantity = 0 }) => (price.unit_amount ?? 0) * quantity)
  const amount = amounts.reduce((sum, one) => sum + one, 0)
  const isEnough = minimum === null || minimumCurrency !== currency || amount >= minimum
  if ((products !== undefined && !isForItem) || !isEnough) {
    throw new ApiError('BAD_REQUEST', NOT_USABLE)
  }
}

/** The paths that Stripe must expand for `toDiscounts`, if the discounts are at `place`. */
function expanded(place: string): string[] {
  return [`${place}.promotion_code`, `${place}.source.coupon`]
}

type MaybeDiscount = string | Stripe.Discount | null | undefined

/** The first discount that has not ended. */
function findActive(discounts: readonly MaybeDiscount[], now: number) {
  return discounts.flatMap(toDiscounts).find(({ end }) => end === null || now < end * 1000)
}

/** Returns an empty list for a discount that is missing or is only an id. */
function toDiscounts(one: MaybeDiscount) {
  if (typeof one !== 'object' || one === null) return []
  const { promotion_code: promotion, end } = one
  return [{ promotionId: promotion && idOf(promotion), end, discount: toDiscount(one) }]
}

function toDiscount({ promotion_code: promotion, source, end }: Stripe.Discount): Discount {
  const coupon = typeof source.coupon === 'object' ? source.coupon : null
  return {
    code: typeof promotion === 'object' ? (promotion?.code ?? null) : null,
    percentOff: coupon?.percent_off ?? null,
    amountOff: coupon?.amount_off ?? null,
    currency: coupon?.currency ?? null,
    endsAt: end === null ? null : new Date(end * 1000).toISOString(),
  }
}
