import type Stripe from 'stripe'
import * as v from 'valibot'
import { toDiscounts } from '../billing/redeem.ts'
import { listPage, toList } from '../http/list.ts'
import { Page } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { addRow, changeRow, getRow, type World } from '../world.ts'
import {
  type CheckoutParam,
  CheckoutParams,
  requireConsistent,
  SessionListParams,
} from './checkout-params.ts'
import { newSession } from './checkout-session.ts'
import { getCustomer } from './customers.ts'
import { mergeMetadata } from './metadata.ts'
import { getPrice, isMetered } from './prices.ts'

export const checkoutRoutes: readonly Route[] = [
  route('POST /v1/checkout/sessions', CheckoutParams, ({ world, params }) => create(world, params)),
  route('GET /v1/checkout/sessions', SessionListParams, ({ world, params }) => {
    const { customer, status, subscription } = params
    const rows = [...world.state.tables.sessions.values()].filter(
      (row) =>
        (customer === undefined || customer === row.customer) &&
        (status === undefined || status === row.status) &&
        (subscription === undefined || subscription === row.subscription),
    )
    return listPage('/v1/checkout/sessions', rows, params)
  }),
  route('GET /v1/checkout/sessions/:id', Nothing, ({ world, id }) => getSession(world, id)),
  route('GET /v1/checkout/sessions/:id/line_items', v.strictObject(Page), ({ world, id }) =>
    lineItemsOf(world, getSession(world, id)),
  ),
  route('POST /v1/checkout/sessions/:id/expire', Nothing, ({ world, id }) => {
    const session = getSession(world, id)
    if (session.status === 'open') return expireSession(world, session)
    throw badRequest('Only Checkout Sessions with a status in ["open"] can be expired.')
  }),
]

export function getSession(world: World, id: string): Stripe.Checkout.Session {
  return getRow(world.state.tables.sessions, id, 'checkout.session')
}

export function expireSession(world: World, row: Stripe.Checkout.Session): Stripe.Checkout.Session {
  const changes = { status: 'expired', url: null } as const
  return changeRow(world, world.state.tables.sessions, { row, changes }, 'checkout.session.expired')
}

/** What the session sells. */
export function lineItemsOf(world: World, { id }: Stripe.Checkout.Session) {
  const lines = world.state.orders.get(id)?.lines ?? []
  const data = lines.map((line): Stripe.LineItem => {
    const price = getPrice(world, line.price)
    const amount = isMetered(price) ? 0 : (price.unit_amount ?? 0) * (line.quantity ?? 1)
    return {
      id: newId('li'),
      object: 'item',
      adjustable_quantity: null,
      amount_discount: 0,
      amount_subtotal: amount,
      amount_tax: 0,
      amount_total: amount,
      currency: price.currency,
      description: world.state.tables.products.get(String(price.product))?.name ?? null,
      metadata: {},
      price,
      quantity: line.quantity ?? null,
    }
  })
  return toList(`/v1/checkout/sessions/${id}/line_items`, data)
}

function create(world: World, params: CheckoutParam): Stripe.Checkout.Session {
  requireConsistent(params)
  if (params.customer !== undefined) getCustomer(world, params.customer, 'customer')
  const lines = requireLines(world, params)
  const id = newId('cs_test', 58)
  const holder = { customer: params.customer ?? '', subscription: null, checkoutSession: id }
  const discounts = toDiscounts(world, params.discounts ?? '', holder)
  const { trial_end, trial_period_days: days, metadata } = params.subscription_data ?? {}
  const trialEnd = days === undefined ? trial_end : world.now() + days * 86_400
  world.state.orders.set(id, {
    lines,
    metadata: mergeMetadata({}, metadata),
    ...(trialEnd !== undefined && { trialEnd }),
  })
  const amount = lines.reduce((sum, { price, quantity = 0 }) => {
    return sum + (getPrice(world, price).unit_amount ?? 0) * quantity
  }, 0)
  const session = newSession(world, params, { id, amount, discounts })
  return addRow(world, world.state.tables.sessions, session)
}

function requireLines(world: World, { line_items = [] }: CheckoutParam) {
  if (line_items.length === 0) {
    throw badRequest('Missing required param: line_items.', {
      code: 'parameter_missing',
      param: 'line_items',
    })
  }
  return line_items.map(({ price, quantity }, index) => {
    const found = getPrice(world, price, `line_items[${index}][price]`)
    const param = `line_items[${index}][quantity]`
    if (isMetered(found)) {
      if (quantity === undefined) return { price }
      throw badRequest('Quantity should not be specified where usage_type is metered.', { param })
    }
    if (quantity !== undefined) return { price, quantity }
    throw badRequest('Quantity is required.', { code: 'parameter_missing', param })
  })
}
