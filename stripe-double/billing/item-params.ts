import type Stripe from 'stripe'
import * as v from 'valibot'
import { Flag, Integer, Metadata, Text } from '../http/params.ts'
import type { Period } from './period.ts'

export const ItemParams = v.strictObject({
  id: v.optional(Text),
  price: v.optional(Text),
  quantity: v.optional(Integer),
  deleted: v.optional(Flag),
  clear_usage: v.optional(Flag),
  metadata: v.optional(Metadata),
})

export type ItemParam = v.InferOutput<typeof ItemParams>

/** What the changes start from. */
export interface Basis {
  readonly subscription: string
  readonly period: Period
  readonly items: readonly Stripe.SubscriptionItem[]
}
