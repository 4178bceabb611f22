import type Stripe from 'stripe'
import * as v from 'valibot'
import { appliesTo } from '../../billing/discounts.ts'
import { priceIn } from '../../billing/lines.ts'
import { requireUsable } from '../../billing/redeem.ts'
import { Address } from '../../http/params.ts'
import { actionRequired, badRequest, declined } from '../../http/stripe-error.ts'
import { startSubscription } from '../../subscriptions/start-subscription.ts'
import { invalidLocation, isTaxLocation } from '../../tax/tax-rule.ts'
import { changeRow, getRow, type World } from '../../world.ts'
import { addCard, type Card, findCard, setUpCard } from '../cards.ts'
import { findActiveCode } from '../catalog/promotion-codes.ts'
import { toAddress } from '../customers.ts'
import { addTaxId } from '../tax-ids.ts'

/** What the customer enters on the page. `card` is a test token or number. */
export const CheckoutEntry = v.strictObject({
  card: v.string(),
  /** What the customer does if the bank asks; without it, the bank only asks. */
  authentication: v.exactOptional(v.picklist(['confirmed', 'failed'])),
  promotionCode: v.exactOptional(v.string()),
  name: v.exactOptional(v.string()),
  address: v.exactOptional(Address),
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
  const isTrial = world.state.orders.get(id)?.trialDays !== undefined
  requireConfirmation(card, entry)
  requireAcceptance(card, isTrial ? 'set up' : 'charged')
  const customer = String(session.customer)
  const discounts = discountsOf(world, session, entry.promotionCode)
  keepAddress(world, session, entry.address)
  if (entry.taxId !== undefined) addTaxId(world, customer, entry.taxId)
  if (entry.name !== undefined) {
    changeRow(world, getRow(world, 'customers', customer), { name: entry.name }, 'customer.updated')
  }
  const defaultMethod = addCard(world, card, customer).id
  setUpCard(world, defaultMethod)
  const outcome = subscribe(world, session, { customer, discounts, defaultMethod })
  const changes = {
    ...outcome,
    status: 'complete',
    url: null,
  } as const
  return changeRow(world, session, changes, 'checkout.session.completed')
}

/** The customer can confirm on the page. Like Stripe, asks also for a trial, which sets the card up. */
function requireConfirmation({ behaviour }: Card, { authentication }: CheckoutEntry): void {
  if (!behaviour.startsWith('asks') || authentication === 'confirmed') return
  throw authentication === undefined ? actionRequired('subscription') : declined()
}

function requireAcceptance({ behaviour }: Card, use: 'charged' | 'set up'): void {
  const isRefused = behaviour === 'refused'
  const isDeclined = behaviour === 'declines' || behaviour === 'asks-then-declines'
  if (isRefused || (isDeclined && use === 'charged')) throw declined()
}

/** With automatic tax, Checkout needs an address that says which tax applies. */
function keepAddress(
  world: World,
  { id, automatic_tax, customer }: Stripe.Checkout.Session,
  entered: CheckoutEntry['address'],
): void {
  const row = getRow(world, 'customers', String(customer))
  const address = entered === undefined ? (row.address ?? null) : toAddress(entered)
  if (automatic_tax.enabled && !isTaxLocation(address)) {
    throw invalidLocation('Enter a complete billing address.')
  }
  if (world.state.orders.get(id)?.keepsAddress === true) {
    changeRow(world, row, { address }, 'customer.updated')
  }
}

function discountsOf(world: World, session: Stripe.Checkout.Session, code: string | undefined) {
  if (code === undefined) return []
  const { allow_promotion_codes, customer } = session
  if (allow_promotion_codes !== true) throw badRequest('This page takes no promotion codes.')
  const found = findActiveCode(world, code)
  if (found === null) throw badRequest('This code is invalid.', { code: 'resource_missing' })
  requireUsable(world, found, { customer: String(customer), param: 'promotion_code' })
  requireFitting(world, found, session)
  return [{ promotion_code: found.id }]
}

/** Throws unless the order has the product and the minimum of the code. */
function requireFitting(
  world: World,
  { promotion, restrictions }: Stripe.PromotionCode,
  session: Stripe.Checkout.Session,
): void {
  const coupon = getRow(world, 'coupons', String(promotion.coupon))
  const lines = world.state.orders.get(session.id)?.lines ?? []
  const currency = session.currency ?? ''
  const amounts = lines.map(({ price, quantity }) => priceIn(world, price, { quantity, currency }))
  const amount = amounts.reduce((sum, one) => sum + one, 0)
  const isForProduct = lines.some(({ price }) => appliesTo(world, coupon, price.product))
  if (isForProduct && amount >= (restrictions.minimum_amount ?? 0)) return
  throw badRequest('This code is not valid for this order.', { param: 'promotion_code' })
}

/** Like Checkout, sets the card on the subscription, not on the customer. */
function subscribe(
  world: World,
  { id, automatic_tax }: Stripe.Checkout.Session,
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
    automaticTax: automatic_tax.enabled ? automatic_tax : undefined,
    trialDays: order?.trialDays,
    currency: order?.currency,
  })
  const invoice = getRow(world, 'invoices', String(subscription.latest_invoice))
  return {
    amount_total: invoice.total,
    automatic_tax: { ...automatic_tax, status: invoice.automatic_tax.status },
    total_details: totalsOf(invoice),
    invoice: invoice.id,
    payment_status: invoice.amount_paid > 0 ? 'paid' : 'no_payment_required',
    subscription: subscription.id,
  }
}

function totalsOf({ total_discount_amounts, total_taxes }: Stripe.Invoice) {
  const sum = (parts: readonly { readonly amount: number }[] | null) =>
    (parts ?? []).reduce((all, { amount }) => all + amount, 0)
  return {
    amount_discount: sum(total_discount_amounts),
    amount_shipping: 0,
    amount_tax: sum(total_taxes),
  }
}
