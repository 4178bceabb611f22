import type Stripe from 'stripe'
import * as v from 'valibot'
import { listPage } from '../http/list.ts'
import { Flag, Page, Text, withOptional } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest, declined } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { newObject } from '../new-object.ts'
import { addRow, changeRow, getRow, rowsOf, type World } from '../world.ts'
import { addCard, findCard, setUpCard } from './cards.ts'

const CreateParams = v.strictObject({
  type: v.literal('card'),
  card: v.strictObject({ token: Text }),
})

const AttachParams = v.strictObject({ customer: Text })

export const paymentMethodRoutes: readonly Route[] = [
  route('POST /v1/payment_methods', CreateParams, ({ world, params: { card } }) => {
    const known = findCard(card.token.replace(/^tok_/, 'pm_card_'))
    if (known !== null) return addCard(world, known, null)
    throw badRequest('Your card number is incorrect.', {
      code: 'incorrect_number',
      param: 'card[token]',
    })
  }),
  route('GET /v1/payment_methods/:id', Nothing, ({ world, id }) => {
    const card = findCard(id)
    return card === null ? getRow(world, 'paymentMethods', id) : addCard(world, card, null)
  }),
  route('POST /v1/payment_methods/:id/attach', AttachParams, ({ world, params, id }) =>
    attachMethod(world, id, getRow(world, 'customers', params.customer, 'customer').id),
  ),
  route('POST /v1/payment_methods/:id/detach', Nothing, ({ world, id }) => {
    const row = getRow(world, 'paymentMethods', id)
    forgetDefault(world, row)
    return changeRow(world, row, { customer: null }, 'payment_method.detached')
  }),
  route('GET /v1/customers/:id/payment_methods', Page, ({ world, params, id }) => {
    const methods = rowsOf(world, 'paymentMethods').filter(({ customer }) => customer === id)
    return listPage(`/v1/customers/${id}/payment_methods`, methods, params)
  }),
]

/** Attaches the payment method or test token to the customer. Throws 402 for a refused card. */
function attachMethod(world: World, id: string, customer: string): Stripe.PaymentMethod {
  const card = findCard(id)
  if (card?.behaviour === 'refused') throw declined()
  if (card !== null) return addCard(world, card, customer)
  const row = getRow(world, 'paymentMethods', id)
  if (row.card?.last4 === '0002') throw declined()
  if (row.customer !== null && row.customer !== customer) {
    throw badRequest('The payment method you provided has already been attached to a customer.', {
      code: 'payment_method_unexpected_state',
    })
  }
  return changeRow(world, row, { customer }, 'payment_method.attached')
}

function forgetDefault(world: World, method: Stripe.PaymentMethod): void {
  const { customers } = world.state.tables
  const row = customers.get(String(method.customer))
  if (row?.invoice_settings.default_payment_method !== method.id) return
  const invoice_settings = { ...row.invoice_settings, default_payment_method: null }
  changeRow(world, row, { invoice_settings }, 'customer.updated')
}

const IntentParams = withOptional(
  { customer: Text },
  {
    automatic_payment_methods: v.strictObject({ enabled: Flag }),
    usage: v.picklist(['off_session', 'on_session']),
  },
)

const ConfirmParams = v.strictObject({ payment_method: Text })

export const setupIntentRoutes: readonly Route[] = [
  route('POST /v1/setup_intents', IntentParams, ({ world, params }) => addIntent(world, params)),
  route('POST /v1/setup_intents/:id/confirm', ConfirmParams, ({ world, params, id }) =>
    confirm(world, getRow(world, 'setupIntents', id), params.payment_method),
  ),
]

function addIntent(world: World, params: v.InferOutput<typeof IntentParams>): Stripe.SetupIntent {
  const id = newId('seti')
  const intent = newObject<Stripe.SetupIntent>(world, {
    id,
    object: 'setup_intent',
    client_secret: newId(`${id}_secret`),
    customer: getRow(world, 'customers', params.customer, 'customer').id,
    payment_method: null,
    status: 'requires_payment_method',
    usage: params.usage ?? 'off_session',
  })
  return addRow(world, 'setupIntents', intent, 'setup_intent.created')
}

/** Attaches the card to the customer, who confirms it to the bank, as Stripe.js does in a browser. */
function confirm(world: World, row: Stripe.SetupIntent, method: string) {
  if (row.status !== 'requires_payment_method') {
    throw badRequest('You cannot confirm this SetupIntent in its current state.', {
      code: 'setup_intent_unexpected_state',
    })
  }
  const attached = attachMethod(world, method, String(row.customer))
  setUpCard(world, attached.id)
  const changes = { status: 'succeeded', payment_method: attached.id } as const
  return changeRow(world, row, changes, 'setup_intent.succeeded')
}
