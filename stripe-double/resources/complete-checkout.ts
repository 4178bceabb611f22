import type Stripe from 'stripe'
import { requireUsable } from '../billing/redeem.ts'
import { startSubscription } from '../billing/start-subscription.ts'
import { badRequest, declined } from '../http/stripe-error.ts'
import { addRow, changeRow, getRow, type World } from '../world.ts'
import { addCard, findCard } from './cards.ts'
import { getSession } from './checkout-sessions.ts'
import { getCustomer, newCustomer } from './customers.ts'
import { findActiveCode } from './promotion-codes.ts'
import { addTaxId } from './tax-ids.ts'

/** What a customer types into the page. */
export interface CheckoutEntry {
  /** A test token or number. */
  readonly card: string
  readonly promotionCode?: string
  readonly taxId?: { readonly type: string; readonly value: string }
  readonly name?: string
}

/** Pays the session. Throws Stripe's 402 for a declined card: the session stays open. */
export function completeCheckout(
  world: World,
  id: string,
  entry: CheckoutEntry,
): Stripe.Checkout.Session {
  const session = getSession(world, id)
  if (session.status !== 'open') throw badRequest('This Checkout Session is not open.')
  const card = findCard(entry.card)
  if (card === null)
    throw badRequest('Your card number is incorrect.', { code: 'incorrect_number' })
  if (card.behaviour !== 'pays') throw declined()
  const customer = customerOf(world, session)
  const discounts = discountsOf(world, session, { code: entry.promotionCode, customer })
  if (entry.taxId !== undefined) addTaxId(world, customer, entry.taxId)
  if (entry.name !== undefined) rename(world, customer, entry.name)
  const method = addCard(world, card, customer).id
  const outcome = subscribe(world, session, { customer, discounts, method })
  const changes = {
    ...outcome,
    customer,
    customer_details: detailsOf(getCustomer(world, customer)),
    status: 'complete',
    url: null,
  } as const
  const { sessions } = world.state.tables
  return changeRow(world, sessions, { row: session, changes }, 'checkout.session.completed')
}

function customerOf(world: World, { customer, customer_email }: Stripe.Checkout.Session): string {
  if (customer !== null) return String(customer)
  const row = { ...newCustomer(world), email: customer_email }
  return addRow(world, world.state.tables.customers, row, 'customer.created').id
}

function discountsOf(
  world: World,
  { allow_promotion_codes, discounts }: Stripe.Checkout.Session,
  { code, customer }: { code: string | undefined; customer: string },
) {
  if (code === undefined || code === '' || allow_promotion_codes !== true) {
    return (discounts ?? []).map(({ coupon, promotion_code }) =>
      promotion_code === null
        ? { coupon: String(coupon) }
        : { promotion_code: String(promotion_code) },
    )
  }
  const found = findActiveCode(world, code)
  if (found === null) throw badRequest('This code is invalid.', { code: 'resource_missing' })
  requireUsable(world, found, { customer, param: 'promotion_code' })
  return [{ promotion_code: found.id }]
}

/** The card is set on the subscription, not on the customer: as Checkout does. */
function subscribe(
  world: World,
  { id, amount_subtotal }: Stripe.Checkout.Session,
  paid: Pick<Parameters<typeof startSubscription>[1], 'customer' | 'discounts'> & {
    method: string
  },
) {
  const order = world.state.orders.get(id)
  const subscription = startSubscription(world, {
    customer: paid.customer,
    items: (order?.lines ?? []).map(({ price, quantity }) => ({ price, quantity })),
    discounts: paid.discounts,
    checkoutSession: id,
    trialEnd: order?.trialEnd ?? null,
    defaultMethod: paid.method,
    metadata: order?.metadata ?? {},
    description: null,
    paymentBehavior: 'error_if_incomplete',
  })
  const invoice = getRow(
    world.state.tables.invoices,
    String(subscription.latest_invoice),
    'invoice',
  )
  return {
    amount_total: invoice.total,
    invoice: invoice.id,
    payment_status: invoice.amount_paid > 0 ? 'paid' : 'no_payment_required',
    subscription: subscription.id,
    total_details: {
      amount_discount: (amount_subtotal ?? 0) - invoice.total,
      amount_shipping: 0,
      amount_tax: 0,
    },
  }
}

function rename(world: World, customer: string, name: string): void {
  const row = getCustomer(world, customer)
  changeRow(world, world.state.tables.customers, { row, changes: { name } }, 'customer.updated')
}

function detailsOf(customer: Stripe.Customer): Stripe.Checkout.Session.CustomerDetails {
  return {
    address: customer.address ?? null,
    business_name: null,
    email: customer.email,
    individual_name: null,
    name: customer.name ?? null,
    phone: customer.phone ?? null,
    tax_exempt: customer.tax_exempt ?? null,
    tax_ids: null,
  }
}
