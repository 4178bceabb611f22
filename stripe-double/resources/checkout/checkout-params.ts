import * as v from 'valibot'
import {
  AutomaticTaxParam,
  Flag,
  Integer,
  Metadata,
  optional,
  Text,
  withOptional,
} from '../../http/params.ts'
import { badRequest, missingParam } from '../../http/stripe-error.ts'
import { TrialDays } from '../../subscriptions/change-params.ts'

const UpdateChoice = v.picklist(['auto', 'never'])

export const CheckoutParams = withOptional(
  {
    customer: Text,
    line_items: v.pipe(
      v.array(withOptional({ price: Text }, { quantity: Integer })),
      v.minLength(1, 'at least one item'),
    ),
    mode: v.literal('subscription', 'the double supports subscription only'),
  },
  {
    allow_promotion_codes: Flag,
    automatic_tax: AutomaticTaxParam,
    billing_address_collection: v.picklist(['auto', 'required']),
    cancel_url: Text,
    client_reference_id: Text,
    currency: Text,
    customer_update: optional({ address: UpdateChoice, name: UpdateChoice }),
    metadata: Metadata,
    return_url: Text,
    subscription_data: optional({
      billing_mode: v.strictObject({ type: v.literal('flexible', 'the double is flexible only') }),
      metadata: Metadata,
      trial_period_days: TrialDays,
    }),
    success_url: Text,
    tax_id_collection: v.strictObject({ enabled: Flag }),
    ui_mode: v.picklist(['hosted_page', 'embedded_page']),
  },
)

export type CheckoutParam = v.InferOutput<typeof CheckoutParams>

/** Throws for combinations of valid parameters that Stripe refuses. */
export function requireConsistent(params: CheckoutParam): void {
  requireNameUpdate(params)
  requireUrls(params)
}

function requireNameUpdate({ customer_update, tax_id_collection }: CheckoutParam): void {
  if (tax_id_collection?.enabled !== true || customer_update?.name === 'auto') return
  throw badRequest(
    'Tax ID collection requires updating business name on the customer. To enable tax ID collection for an existing customer, please set `customer_update[name]` to `auto`.',
  )
}

function requireUrls({ ui_mode, success_url, cancel_url, return_url }: CheckoutParam): void {
  if (ui_mode !== 'embedded_page') {
    if (success_url === undefined) throw missingParam('success_url')
    return
  }
  if (success_url !== undefined || cancel_url !== undefined) {
    throw badRequest(`success_url and cancel_url cannot be used with ui_mode ${ui_mode}.`, {
      param: 'success_url',
    })
  }
  if (return_url === undefined) throw missingParam('return_url')
}
