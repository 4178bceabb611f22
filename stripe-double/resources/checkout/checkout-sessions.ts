import type Stripe from 'stripe'
import * as v from 'valibot'
import { priceIn } from '../../billing/lines.ts'
import { listRoute } from '../../http/list.ts'
import { mergeMetadata, Text } from '../../http/params.ts'
import { Nothing, type Route, route } from '../../http/route.ts'
import { badRequest } from '../../http/stripe-error.ts'
import { newId } from '../../ids.ts'
import { newObject } from '../../new-object.ts'
import { chooseCurrency } from '../../subscriptions/currency.ts'
import { findTaxRule, invalidLocation } from '../../tax/tax-rule.ts'
import { requireTaxActive } from '../../tax/tax-settings.ts'
import { addRow, changeRow, getRow, type World } from '../../world.ts'
import { type CheckoutParam, CheckoutParams, requireConsistent } from './checkout-params.ts'

export const checkoutRoutes: readonly Route[] = [
  route('POST /v1/checkout/sessions', CheckoutParams, ({ world, params }) => create(world, params)),
  listRoute('/v1/checkout/sessions', 'sessions', {
    customer: Text,
    status: v.picklist(['open', 'complete', 'expired']),
  }),
  route('GET /v1/checkout/sessions/:id', Nothing, ({ world, id }) => getRow(world, 'sessions', id)),
  route('POST /v1/checkout/sessions/:id/expire', Nothing, ({ world, id }) => {
    const session = getRow(world, 'sessions', id)
    if (session.status === 'open') return expireSession(world, session)
    throw badRequest('Only Checkout Sessions with a status in ["open"] can be expired.')
  }),
]

export function expireSession(world: World, row: Stripe.Checkout.Session): Stripe.Checkout.Session {
  return changeRow(world, row, { status: 'expired', url: null }, 'checkout.session.expired')
}

function create(world: World, params: CheckoutParam): Stripe.Checkout.Session {
  requireConsistent(params)
  const customer = getRow(world, 'customers', params.customer, 'customer')
  const lines = params.line_items.map((line, index) => {
    const price = getRow(world, 'prices', line.price, `line_items[${index}][price]`)
    if (line.quantity !== undefined) return { price, quantity: line.quantity }
    const param = `line_items[${index}][quantity]`
    throw badRequest('Quantity is required.', { code: 'parameter_missing', param })
  })
  const id = newId('cs_test', 58)
  const metadata = mergeMetadata({}, params.subscription_data?.metadata)
  const keepsAddress = params.customer_update?.address === 'auto'
  const trialDays = params.subscription_data?.trial_period_days
  const prices = lines.map(({ price }) => price)
  const currency = chooseCurrency(world, { customer, prices, currency: params.currency })
  world.state.orders.set(id, { lines, metadata, keepsAddress, trialDays, currency })
  const amounts = lines.map(({ price, quantity }) => priceIn(world, price, { quantity, currency }))
  const amount = trialDays === undefined ? amounts.reduce((sum, one) => sum + one, 0) : 0
  return addRow(world, 'sessions', newSession(world, params, { id, amount, currency }))
}

function toAutomaticTax(world: World, { automatic_tax, customer, customer_update }: CheckoutParam) {
  const none = { enabled: false, liability: null, provider: null, status: null }
  if (automatic_tax?.enabled !== true) return none
  requireTaxActive(world)
  const isKnown = findTaxRule(world, customer) !== null
  if (!isKnown && customer_update?.address !== 'auto') {
    throw invalidLocation(
      "Automatic tax calculation in Checkout requires a valid address on the Customer. Add a valid address to the Customer or set either `customer_update[address]` to 'auto' or `customer_update[shipping]` to 'auto' to save the address entered in Checkout to the Customer.",
    )
  }
  const status = isKnown ? 'complete' : 'requires_location_inputs'
  return { ...none, enabled: true, provider: 'stripe', status }
}

const OPEN_SECONDS = 86_400

/** Makes an open session, with a URL for the hosted page or a client secret for an embedded one. */
function newSession(
  world: World,
  params: CheckoutParam,
  { id, amount, currency }: { id: string; amount: number; currency: string },
): Stripe.Checkout.Session {
  const { ui_mode = 'hosted_page' } = params
  const isHosted = ui_mode === 'hosted_page'
  return newObject<Stripe.Checkout.Session>(world, {
    id,
    object: 'checkout.session',
    allow_promotion_codes: params.allow_promotion_codes ?? null,
    amount_total: amount,
    automatic_tax: toAutomaticTax(world, params),
    billing_address_collection: params.billing_address_collection ?? null,
    cancel_url: params.cancel_url ?? null,
    client_reference_id: params.client_reference_id ?? null,
    client_secret: isHosted ? null : newId(`${id}_secret`),
    currency,
    customer: params.customer,
    expires_at: world.now() + OPEN_SECONDS,
    metadata: mergeMetadata({}, params.metadata),
    mode: params.mode,
    payment_status: 'unpaid',
    status: 'open',
    subscription: null,
    success_url: params.success_url ?? null,
    tax_id_collection: {
      enabled: params.tax_id_collection?.enabled ?? false,
      required: 'never',
    },
    ui_mode,
    ...(params.return_url !== undefined && { return_url: params.return_url }),
    url: isHosted ? `${world.baseUrl}/c/pay/${id}` : null,
  })
}
