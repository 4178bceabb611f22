import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Address, Integer, Metadata, Page, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest, declined, missing } from '../http/stripe-error.ts'
import { changeRow, getRow, type World } from '../world.ts'
import { addCard, findCard } from './cards.ts'
import { getCustomer } from './customers.ts'

const Type = v.literal('card')

const CreateParams = v.strictObject({
  type: Type,
  card: v.strictObject({
    number: v.optional(Text),
    token: v.optional(Text),
    exp_month: v.optional(Integer),
    exp_year: v.optional(Integer),
    cvc: v.optional(Text),
  }),
  billing_details: v.optional(
    v.strictObject({
      name: v.optional(Text),
      email: v.optional(Text),
      address: v.optional(Address),
    }),
  ),
  metadata: v.optional(Metadata),
})

const ListParams = v.strictObject({ ...Page, customer: v.optional(Text), type: v.optional(Type) })

export const paymentMethodRoutes: readonly Route[] = [
  route('POST /v1/payment_methods', CreateParams, ({ world, params: { card } }) => {
    const known = findCard(card.number ?? card.token?.replace(/^tok_/, 'pm_card_') ?? '')
    if (known !== null) return addCard(world, known, null)
    throw badRequest('Your card number is incorrect.', {
      code: 'incorrect_number',
      param: 'card[number]',
    })
  }),
  route('GET /v1/payment_methods', ListParams, ({ world, params }) =>
    listPage('/v1/payment_methods', methodsOf(world, params.customer), params),
  ),
  route('GET /v1/payment_methods/:id', Nothing, ({ world, id }) => {
    const card = findCard(id)
    return card === null ? getMethod(world, id) : addCard(world, card, null)
  }),
  route('POST /v1/payment_methods/:id/attach', v.strictObject({ customer: Text }), (call) =>
    attachMethod(call.world, call.id, getCustomer(call.world, call.params.customer, 'customer').id),
  ),
  route('POST /v1/payment_methods/:id/detach', Nothing, ({ world, id }) => {
    const row = getMethod(world, id)
    forgetDefault(world, row)
    const { paymentMethods } = world.state.tables
    const changes = { customer: null }
    return changeRow(world, paymentMethods, { row, changes }, 'payment_method.detached')
  }),
  route('GET /v1/customers/:id/payment_methods', ListParams, ({ world, params, id }) => {
    getCustomer(world, id)
    return listPage(`/v1/customers/${id}/payment_methods`, methodsOf(world, id), params)
  }),
  route('GET /v1/customers/:id/payment_methods/:nested', Nothing, ({ world, id, nested }) => {
    const method = getMethod(world, nested)
    if (method.customer !== id) throw missing('PaymentMethod', nested)
    return method
  }),
]

/** Gives the method, or the card of a test token, to the customer. A refused card is a 402. */
export function attachMethod(world: World, id: string, customer: string): Stripe.PaymentMethod {
  const card = findCard(id)
  if (card?.behaviour === 'refused') throw declined()
  if (card !== null) return addCard(world, card, customer)
  const row = getMethod(world, id)
  if (row.card?.last4 === '0002') throw declined()
  if (row.customer !== null && row.customer !== customer) {
    throw badRequest('The payment method you provided has already been attached to a customer.', {
      code: 'payment_method_unexpected_state',
    })
  }
  const { paymentMethods } = world.state.tables
  const changes = { customer }
  return changeRow(world, paymentMethods, { row, changes }, 'payment_method.attached')
}

function getMethod(world: World, id: string): Stripe.PaymentMethod {
  return getRow(world.state.tables.paymentMethods, id, 'PaymentMethod')
}

function methodsOf(world: World, customer: string | undefined): Stripe.PaymentMethod[] {
  const methods = [...world.state.tables.paymentMethods.values()]
  return methods.filter((method) => method.customer !== null && method.customer === customer)
}

function forgetDefault(world: World, method: Stripe.PaymentMethod): void {
  const { customers } = world.state.tables
  const row = customers.get(String(method.customer))
  if (row?.invoice_settings.default_payment_method !== method.id) return
  const changes = { invoice_settings: { ...row.invoice_settings, default_payment_method: null } }
  changeRow(world, customers, { row, changes }, 'customer.updated')
}
