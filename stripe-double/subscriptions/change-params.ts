import type Stripe from 'stripe'
import * as v from 'valibot'
import type { Period } from '../billing/period.ts'
import { DiscountParams } from '../billing/redeem.ts'
import { AutomaticTaxParam, Flag, Integer, Metadata, optional, Text } from '../http/params.ts'

export const ItemParams = optional({
  /** Removes the item. */
  deleted: Flag,
  id: Text,
  price: Text,
  quantity: Integer,
  metadata: Metadata,
})

export type ItemParam = v.InferOutput<typeof ItemParams>

/** The items of a subscription in one of its periods. */
export interface CurrentItems {
  readonly subscription: string
  readonly period: Period
  readonly items: readonly Stripe.SubscriptionItem[]
}

export const TrialDays = v.pipe(
  Integer,
  v.minValue(1, 'Invalid integer'),
  v.maxValue(730, 'at most 730 days'),
)

export const PaymentBehavior = v.picklist([
  'allow_incomplete',
  'default_incomplete',
  'error_if_incomplete',
])
export type PaymentBehavior = v.InferOutput<typeof PaymentBehavior>

export const ProrationParams = {
  billing_cycle_anchor: v.strictObject({ type: v.literal('now', 'the double supports now only') }),
  proration_behavior: v.picklist(['create_prorations', 'always_invoice', 'none']),
  proration_date: Integer,
  trial_end: v.literal('now', 'the double supports now only'),
}

export const ChangeParams = optional({
  ...ProrationParams,
  automatic_tax: AutomaticTaxParam,
  items: v.array(ItemParams),
  cancel_at: v.union([v.picklist(['', 'min_period_end', 'max_period_end']), Integer]),
  cancel_at_period_end: Flag,
  default_payment_method: Text,
  description: Text,
  discounts: DiscountParams,
  metadata: Metadata,
  payment_behavior: v.picklist([...PaymentBehavior.options, 'pending_if_incomplete']),
})

export type ChangeParam = v.InferOutput<typeof ChangeParams>
