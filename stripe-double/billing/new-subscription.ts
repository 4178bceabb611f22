import type Stripe from 'stripe'
import { toList } from '../http/list.ts'
import type { World } from '../world.ts'
import { BLANK_SUBSCRIPTION } from './blank-subscription.ts'
import type { Period } from './period.ts'

export interface SubscriptionPlan {
  readonly id: string
  readonly customer: string
  readonly items: readonly Stripe.SubscriptionItem[]
  readonly period: Period
  readonly trialEnd: number | null
  readonly discounts: readonly string[]
  readonly defaultMethod: string | null
  readonly metadata: Stripe.Metadata
  readonly description: string | null
}

/** A subscription before its first payment. */
export function newSubscription(world: World, plan: SubscriptionPlan): Stripe.Subscription {
  const { id, customer, items, period, trialEnd } = plan
  return {
    ...BLANK_SUBSCRIPTION,
    id,
    billing_cycle_anchor: trialEnd ?? period.start,
    created: world.now(),
    currency: items[0]?.price.currency ?? 'usd',
    customer,
    default_payment_method: plan.defaultMethod,
    description: plan.description,
    discounts: [...plan.discounts],
    items: toList(`/v1/subscription_items?subscription=${id}`, [...items]),
    metadata: plan.metadata,
    start_date: world.now(),
    status: trialEnd === null ? 'incomplete' : 'trialing',
    trial_end: trialEnd,
    trial_start: trialEnd === null ? null : world.now(),
  }
}
