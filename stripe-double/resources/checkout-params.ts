import * as v from 'valibot'
import { DiscountParams } from '../billing/redeem.ts'
import { Flag, Integer, Metadata, Page, Text } from '../http/params.ts'
import { badRequest } from '../http/stripe-error.ts'

const UpdateChoice = v.optional(v.picklist(['auto', 'never']))

export const CheckoutParams = v.strictObject({
  mode: v.literal('subscription', 'the double knows subscription only'),
  allow_promotion_codes: v.optional(Flag),
  automatic_tax: v.optional(v.strictObject({ enabled: Flag })),
  billing_address_collection: v.optional(v.picklist(['auto', 'required'])),
  cancel_url: v.optional(Text),
  client_reference_id: v.optional(Text),
  currency: v.optional(Text),
  customer: v.optional(Text),
  customer_email: v.optional(Text),
  customer_update: v.optional(
    v.strictObject({ address: UpdateChoice, name: UpdateChoice, shipping: UpdateChoice }),
  ),
  discounts: v.optional(DiscountParams),
  expires_at: v.optional(Integer),
  line_items: v.optional(v.array(v.strictObject({ price: Text, quantity: v.optional(Integer) }))),
  locale: v.optional(Text),
  metadata: v.optional(Metadata),
  payment_method_collection: v.optional(v.picklist(['always', 'if_required'])),
  redirect_on_completion: v.optional(v.picklist(['always', 'if_required', 'never'])),
  return_url: v.optional(Text),
  subscription_data: v.optional(
    v.strictObject({
      description: v.optional(Text),
      metadata: v.optional(Metadata),
      trial_end: v.optional(Integer),
      trial_period_days: v.optional(Integer),
    }),
  ),
  success_url: v.optional(Text),
  tax_id_collection: v.optional(
    v.strictObject({ enabled: Flag, required: v.optional(v.picklist(['if_supported', 'never'])) }),
  ),
  ui_mode: v.optional(v.picklist(['hosted_page', 'embedded_page', 'elements', 'form'])),
})

export type CheckoutParam = v.InferOutput<typeof CheckoutParams>

export const SessionListParams = v.strictObject({
  ...Page,
  customer: v.optional(Text),
  status: v.optional(v.picklist(['open', 'complete', 'expired'])),
  subscription: v.optional(Text),
})

/** What Stripe refuses although each parameter for itself is right. */
export function requireConsistent(params: CheckoutParam): void {
  if (params.allow_promotion_codes !== undefined && params.discounts !== undefined) {
    throw badRequest(
      'You may only specify one of these parameters: allow_promotion_codes, discounts.',
    )
  }
  if (params.customer !== undefined && params.customer_email !== undefined) {
    throw badRequest('You may only specify one of these parameters: customer, customer_email.')
  }
  requireNameUpdate(params)
  requireUrls(params)
}

function requireNameUpdate({ customer, customer_update, tax_id_collection }: CheckoutParam): void {
  const isAsked = tax_id_collection?.enabled === true && customer !== undefined
  if (!isAsked || customer_update?.name === 'auto') return
  throw badRequest(
    'Tax ID collection requires updating business name on the customer. To enable tax ID collection for an existing customer, please set `customer_update[name]` to `auto`.',
  )
}

function requireUrls(params: CheckoutParam): void {
  const { ui_mode = 'hosted_page', success_url, cancel_url, return_url } = params
  if (ui_mode === 'hosted_page') {
    if (success_url !== undefined) return
    throw badRequest('Missing required param: success_url.', {
      code: 'parameter_missing',
      param: 'success_url',
    })
  }
  if (success_url !== undefined || cancel_url !== undefined) {
    throw badRequest(`success_url and cancel_url cannot be used with ui_mode ${ui_mode}.`, {
      param: 'success_url',
    })
  }
  if (return_url !== undefined || params.redirect_on_completion === 'never') return
  throw badRequest('Missing required param: return_url.', {
    code: 'parameter_missing',
    param: 'return_url',
  })
}
