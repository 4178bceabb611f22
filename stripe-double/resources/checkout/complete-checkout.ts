import type Stripe from 'stripe'
import * as v from 'valibot'
import { appliesTo } from '../../billing/discounts.ts'
import { priceOf } from '../../billing/lines.ts'
import { requireUsable } from '../../billing/redeem.ts'
import { actionRequired, badRequest, declined } from '../../http/stripe-error.ts'
import { startSubscription } from '../../subscriptions/start-subscription.ts'
import { changeRow, getRow, type World } from '../../world.ts'
import { addCard, type Card, findCard } from '../cards.ts'
import { findActiveCode } from '../catalog/promotion-codes.ts'
import { addTaxId } from '../tax-ids.ts'

/** What the customer enters on the page. `card` is a test token or number. */
export const CheckoutEntry = v.strictObject({
  card: v.string(),
  /** What the customer does if the bank asks; without it, the bank only asks. */
  authentication: v.exactOptional(v.picklist(['confirmed', 'failed'])),
  promotionCode: v.exactOptional(v.string()),
  name: v.exactOptional(v.string()),
  taxId: v.exactOptional(v.strictObject({ type: v.string(), value: v.string() })),
})
export type CheckoutEntry = v.InferOutput<typeof CheckoutEntry>

/** Pays the session. Throws Stripe's 402 for a declined card and leaves the session open. */
export function completeCheckout(
  world: World,
  id: string,
  entry: CheckoutEntry,
): Stripe.Checkout.Session {
  const session = getRow(world, 'sessions', id)
  if (session.status !== 'open') throw badRequest('This Checkout Session is not open.')
  const card = findCard(entry.card)
  if (card === null) {
    throw badRequest('Your card number is incorrect.', { code: 'incorrect_number' })
  }
  requirePayment(card, entry)
  const customer = String(session.customer)
  const discounts = discountsOf(world, session, entry.promotionCode)
  if (entry.taxId !== undefined) addTaxId(world, customer, entry.taxId)
  if (entry.name !== undefined) {
    changeRow(world, getRow(world, 'customers', customer), { name: entry.name }, 'customer.updated')
  }
  const defaultMethod = addCard(world, card, customer).id
  const outcome = subscribe(world, session, { customer, discounts, defaultMethod })
  const changes = {
    ...outcome,
    status: 'complete',
    url: null,
  } as const
  return changeRow(world, session, changes, 'checkout.session.completed')
}

/** The customer can confirm the payment on the page. */
function requirePayment({ behaviour }: Card, { authentication }: CheckoutEntry): void {
  if (behaviour === 'pays') return
  const asks = behaviour !== 'declines' && behaviour !== 'refused'
  if (asks && authentication === undefined) throw actionRequired('subscription')
  const isPaid = authentication === 'confirmed' && behaviour !== 'asks-then-declines'
  if (!asks || !isPaid) throw declined()
}

function discountsOf(
  world: World,
  { id, allow_promotion_codes, customer }: Stripe.Checkout.Session,
  code: string | undefined,
) {
  if (code === undefined) return []
  if (allow_promotion_codes !== true) throw badRequest('This page takes no promotion codes.')
  const found = findActiveCode(world, code)
  if (found === null) throw badRequest('This code is invalid.', { code: 'resource_missing' })
  requireUsable(world, found, { customer: String(customer), param: 'promotion_code' })
  requireFitting(world, found, id)
  return [{ promotion_code: found.id }]
}

/** Throws unless the order has the product and the minimum of the code. */
function requireFitting(
  world: World,
  { promotion, restrictions }: Stripe.PromotionCode,
  session: string,
): void {
  const coupon = getRow(world, 'coupons', String(promotion.coupon))
  const lines = world.state.orders.get(session)?.lines ?? []
  const amount = lines.reduce((sum, { price, quantity }) => sum + priceOf(price, quantity), 0)
  const isForProduct = lines.some(({ price }) => appliesTo(world, coupon, price.product))
  if (isForProduct && amount >= (restrictions.minimum_amount ?? 0)) return
  throw badRequest('This code is not valid for this order.', { param: 'promotion_code' })
}

/** Like Checkout, sets the card on the subscription, not on the customer. */
function subscribe(
  world: World,
  { id }: Stripe.Checkout.Session,
  payer: Pick<Parameters<typeof startSubscription>[1], 'customer' | 'discounts' | 'defaultMethod'>,
) {
  const order = world.state.orders.get(id)
  const subscription = startSubscription(world, {
    ...payer,
    items: (order?.lines ?? []).map(({ price, quantity }) => ({ price: price.id, quantity })),
    metadata: order?.metadata ?? {},
    description: null,
    paymentBehavior: 'error_if_incomplete',
    authentication: 'confirmed',
  })
  const invoice = getRow(world, 'invoices', String(subscription.latest_invoice))
  return {
    amount_total: invoice.total,
    invoice: invoice.id,
    payment_status: invoice.amount_paid > 0 ? 'paid' : 'no_payment_required',
    subscription: subscription.id,
  }
}
