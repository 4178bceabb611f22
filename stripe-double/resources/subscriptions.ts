import type Stripe from 'stripe'
import * as v from 'valibot'
import { DiscountParams } from '../billing/redeem.ts'
import { listPage } from '../http/list.ts'
import {
  AutomaticTaxParam,
  Flag,
  Metadata,
  mergeMetadata,
  optional,
  Page,
  Text,
  withOptional,
} from '../http/params.ts'
import { Nothing, type Route, route } from '../http/route.ts'
import { badRequest } from '../http/stripe-error.ts'
import {
  ChangeParams,
  ItemParams,
  PaymentBehavior,
  TrialDays,
} from '../subscriptions/change-params.ts'
import { changeSubscription } from '../subscriptions/change-subscription.ts'
import { endSubscription } from '../subscriptions/end-subscription.ts'
import { startSubscription } from '../subscriptions/start-subscription.ts'
import { getRow, rowsOf, type World } from '../world.ts'
import { requireOwnMethod } from './cards.ts'

const CreateParams = withOptional(
  { customer: Text, items: v.pipe(v.array(ItemParams), v.minLength(1, 'at least one item')) },
  {
    automatic_tax: AutomaticTaxParam,
    billing_mode: v.strictObject({ type: v.literal('flexible', 'the double is flexible only') }),
    currency: Text,
    default_payment_method: Text,
    description: Text,
    discounts: DiscountParams,
    metadata: Metadata,
    payment_behavior: PaymentBehavior,
    trial_period_days: TrialDays,
  },
)

const ListParams = optional({ ...Page.entries, customer: Text, status: Text })

const CancelParams = v.pipe(
  optional({ invoice_now: Flag, prorate: Flag }),
  v.check(
    ({ invoice_now = false, prorate = false }) => invoice_now || !prorate,
    'the double supports prorate only with invoice_now',
  ),
)

export const subscriptionRoutes: readonly Route[] = [
  route('POST /v1/subscriptions', CreateParams, ({ world, params }) => create(world, params)),
  route('GET /v1/subscriptions', ListParams, ({ world, params }) => {
    const rows = rowsOf(world, 'subscriptions').filter(
      (row) => (params.customer ?? row.customer) === row.customer && isOfStatus(row, params.status),
    )
    return listPage('/v1/subscriptions', rows, params)
  }),
  route('GET /v1/subscriptions/:id', Nothing, ({ world, id }) =>
    getRow(world, 'subscriptions', id),
  ),
  route('POST /v1/subscriptions/:id', ChangeParams, ({ world, params, id }) =>
    changeSubscription(world, getRow(world, 'subscriptions', id), params),
  ),
  route('DELETE /v1/subscriptions/:id', CancelParams, ({ world, params, id }) => {
    const row = getRow(world, 'subscriptions', id)
    const { invoice_now = false, prorate = false } = params
    const rest = invoice_now ? 'invoiced' : 'discarded'
    if (row.status !== 'canceled') return endSubscription(world, row, prorate ? 'credited' : rest)
    throw badRequest(`No such subscription: '${id}'`, { code: 'resource_missing', param: 'id' })
  }),
]

/** Without a status, matches all but canceled subscriptions, like Stripe. */
function isOfStatus({ status }: Stripe.Subscription, wanted?: string): boolean {
  if (wanted === undefined) return status !== 'canceled'
  return wanted === 'all' || wanted === status
}

function create(world: World, params: v.InferOutput<typeof CreateParams>): Stripe.Subscription {
  const { default_payment_method: method } = params
  requireOwnMethod(world, params.customer, { id: method, param: 'default_payment_method' })
  return startSubscription(world, {
    customer: getRow(world, 'customers', params.customer, 'customer').id,
    items: params.items,
    discounts: params.discounts ?? '',
    defaultMethod: method ?? null,
    metadata: mergeMetadata({}, params.metadata),
    description: params.description ?? null,
    paymentBehavior: params.payment_behavior ?? 'allow_incomplete',
    authentication: 'none',
    automaticTax: params.automatic_tax,
    trialDays: params.trial_period_days,
    currency: params.currency,
  })
}
