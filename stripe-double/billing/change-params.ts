import * as v from 'valibot'
import { Flag, Integer, Metadata, Text } from '../http/params.ts'
import { ItemParams } from './item-params.ts'
import { DiscountParams } from './redeem.ts'

export const ProrationParams = {
  proration_behavior: v.optional(v.picklist(['create_prorations', 'always_invoice', 'none'])),
  proration_date: v.optional(Integer),
}

export const ChangeParams = v.strictObject({
  ...ProrationParams,
  items: v.optional(v.array(ItemParams)),
  billing_cycle_anchor: v.optional(v.strictObject({ type: v.literal('unchanged') })),
  cancel_at: v.optional(v.union([v.picklist(['', 'min_period_end', 'max_period_end']), Integer])),
  cancel_at_period_end: v.optional(Flag),
  cancellation_details: v.optional(
    v.strictObject({ comment: v.optional(Text), feedback: v.optional(Text) }),
  ),
  default_payment_method: v.optional(Text),
  description: v.optional(Text),
  discounts: v.optional(DiscountParams),
  metadata: v.optional(Metadata),
  off_session: v.optional(Flag),
  payment_behavior: v.optional(
    v.picklist(['allow_incomplete', 'default_incomplete', 'error_if_incomplete']),
  ),
  trial_end: v.optional(v.literal('now')),
})

export type ChangeParam = v.InferOutput<typeof ChangeParams>
