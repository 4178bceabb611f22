import type Stripe from 'stripe'
import * as v from 'valibot'
import { Flag, Metadata, Text } from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import { newId } from '../ids.ts'
import { addRow, changeRow, getRow, type World } from '../world.ts'
import { getCustomer } from './customers.ts'
import { attachMethod } from './payment-methods.ts'

const CreateParams = v.strictObject({
  customer: v.optional(Text),
  automatic_payment_methods: v.optional(
    v.strictObject({
      enabled: Flag,
      allow_redirects: v.optional(v.picklist(['always', 'never'])),
    }),
  ),
  allowed_payment_method_types: v.optional(v.array(Text)),
  confirm: v.optional(Flag),
  description: v.optional(Text),
  metadata: v.optional(Metadata),
  payment_method: v.optional(Text),
  usage: v.optional(v.picklist(['off_session', 'on_session'])),
})

const ConfirmParams = v.strictObject({
  payment_method: v.optional(Text),
  return_url: v.optional(Text),
})

export const setupIntentRoutes: readonly Route[] = [
  route('POST /v1/setup_intents', CreateParams, ({ world, params }) => {
    const intent = addIntent(world, params)
    return params.confirm === true ? confirm(world, intent, params.payment_method) : intent
  }),
  route('GET /v1/setup_intents/:id', Nothing, ({ world, id }) => getIntent(world, id)),
  route('POST /v1/setup_intents/:id/confirm', ConfirmParams, ({ world, params, id }) =>
    confirm(world, getIntent(world, id), params.payment_method),
  ),
  route('POST /v1/setup_intents/:id/cancel', Nothing, ({ world, id }) => {
    const row = getIntent(world, id)
    const changes = { status: 'canceled' } as const
    const { setupIntents } = world.state.tables
    return changeRow(world, setupIntents, { row, changes }, 'setup_intent.canceled')
  }),
]

function addIntent(world: World, params: v.InferOutput<typeof CreateParams>): Stripe.SetupIntent {
  if (params.customer !== undefined) getCustomer(world, params.customer, 'customer')
  const id = newId('seti')
  const intent: Stripe.SetupIntent = {
    id,
    object: 'setup_intent',
    allowed_payment_method_types: null,
    application: null,
    automatic_payment_methods: { allow_redirects: 'always', enabled: true },
    cancellation_reason: null,
    client_secret: newId(`${id}_secret`),
    created: world.now(),
    customer: params.customer ?? null,
    description: params.description ?? null,
    excluded_payment_method_types: null,
    last_setup_error: null,
    latest_attempt: null,
    livemode: false,
    mandate: null,
    metadata: typeof params.metadata === 'object' ? params.metadata : {},
    next_action: null,
    on_behalf_of: null,
    payment_method: null,
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: params.allowed_payment_method_types ?? ['card'],
    single_use_mandate: null,
    status: 'requires_payment_method',
    usage: params.usage ?? 'off_session',
  }
  return addRow(world, world.state.tables.setupIntents, intent, 'setup_intent.created')
}

/** As Stripe.js does in a browser: the card becomes the customer's. */
function confirm(
  world: World,
  row: Stripe.SetupIntent,
  method: string | undefined,
): Stripe.SetupIntent {
  if (method === undefined || row.status !== 'requires_payment_method') {
    throw badRequest('You cannot confirm this SetupIntent in its current state.', {
      code: 'setup_intent_unexpected_state',
    })
  }
  const attached = attachMethod(world, method, String(row.customer))
  const changes = { status: 'succeeded', payment_method: attached.id } as const
  const { setupIntents } = world.state.tables
  return changeRow(world, setupIntents, { row, changes }, 'setup_intent.succeeded')
}

function getIntent(world: World, id: string): Stripe.SetupIntent {
  return getRow(world.state.tables.setupIntents, id, 'setupintent')
}
