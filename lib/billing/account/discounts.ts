import type { ActiveDiscount, Discount } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Actor, Billing } from '../billing.ts'
import { getCustomer } from '../stripe/customers.ts'
import { idOf, MAX_PAGE, type Stripe } from '../stripe/stripe-calls.ts'
import { ifMissing, ifRefused } from '../stripe/stripe-refusal.ts'
import { findCustomer } from '../subscription/customers.ts'
import { findSubscription, toNote } from '../subscription/subscriptions.ts'
import { withSubscription } from '../subscription/with-subscription.ts'

const CODE = /^[\w-]+$/
const NOT_USABLE = 'The promotion code cannot be used for this subscription'
const EXPANDED = expanded('discounts')

/** The discount of the subscription or, if it has none, of the customer; {} if neither has an active one. */
export async function findDiscount(
  billing: Billing,
  userId: string,
  now: number,
): Promise<ActiveDiscount> {
  const customer = await findCustomer(billing.db, userId)
  if (customer === null || !billing.isConfigured) return {}
  const row = await findSubscription(billing.db, userId)
  const found = readDiscounts(billing.openStripe(), customer.customerId, row?.id)
  return findActive(await found.catch(ifMissing([])), now)?.discount ?? {}
}

/** Those of the subscription, which come first, and of the customer. */
async function readDiscounts(stripe: Stripe, customer: string, subscription: string | undefined) {
  const { discount } = await getCustomer(stripe, customer, expanded('discount'))
  if (subscription === undefined) return [discount]
  const own = await stripe.subscriptions.retrieve(subscription, { expand: EXPANDED })
  return [...own.discounts, discount]
}

/**
 * Gives the subscription the discount of the promotion code. If that discount is already active, nothing
 * changes: entering the code again does not extend it. Throws BAD_REQUEST if the code is unknown, has expired,
 * or is not for this subscription; if it has lowered an invoice, because Stripe would start its discount again;
 * and if another discount of the subscription or the customer is active, which it would replace.
 */
export function applyPromotion(billing: Billing, actor: Actor, code: string): Promise<Discount> {
  const { userId, now } = actor
  return withSubscription(billing, userId, async (stripe, row) => {
    const expand = [...EXPANDED, ...expanded('customer.discount')]
    const subscription = await stripe.subscriptions.retrieve(row.id, { expand })
    const promotion = await findPromotion(stripe, code.trim(), idOf(subscription.customer))
    const current = findActive([...subscription.discounts, ofCustomer(subscription)], now)
    if (current?.promotionId === promotion.id) return current.discount
    requireApplicable(promotion, subscription)
    if (await hasLoweredInvoice(stripe, subscription, promotion.id)) {
      throw new ApiError('BAD_REQUEST', 'The promotion code was used before')
    }
    requireNoDiscount(current)
    const change = { discounts: [{ promotion_code: promotion.id }], expand: EXPANDED }
    const { discounts } = await stripe.subscriptions
      .update(row.id, change)
      .catch(ifRefused(NOT_USABLE))
    const [given] = discounts.flatMap(toDiscounts)
    if (given === undefined) throw new Error('Stripe did not return the discount that it applied')
    await billing.change([actor.audit(toNote('apply_promo', row, promotion.code))])
    return given.discount
  })
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
  stripe: Stripe,
  subscription: Stripe.Subscription,
  promotionId: string,
): Promise<boolean> {
  const customer = idOf(subscription.customer)
  const expand = ['data.total_discount_amounts.discount']
  const { data } = await stripe.invoices.list({ customer, limit: MAX_PAGE, expand })
  return data
    .flatMap(({ total_discount_amounts: taken }) => taken ?? [])
    .some(({ discount }) => {
      const promotion = typeof discount === 'string' ? null : discount.promotion_code
      return promotion !== null && idOf(promotion) === promotionId
    })
}

/** Several customers may each have their own promotion with the same code. */
async function findPromotion(
  stripe: Stripe,
  code: string,
  customerId: string,
): Promise<Stripe.PromotionCode> {
  const expand = ['data.promotion.coupon.applies_to']
  const params = { code, active: true, limit: MAX_PAGE, expand }
  const found = CODE.test(code) ? await stripe.promotionCodes.list(params) : { data: [] }
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
