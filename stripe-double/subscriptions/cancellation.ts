import type Stripe from 'stripe'
import { periodOf } from '../billing/period.ts'
import type { ChangeParam } from './change-params.ts'

export const NO_CANCELLATION = {
  cancel_at: null,
  canceled_at: null,
  cancel_at_period_end: false,
} satisfies Partial<Stripe.Subscription>

/**
 * The changes that schedule or undo a cancellation. `cancel_at_period_end: false` does not clear a
 * `cancel_at` that was set on its own.
 */
export function cancellationOf(
  row: Stripe.Subscription,
  params: ChangeParam,
  now: number,
): Partial<Stripe.Subscription> {
  const { cancel_at: at, cancel_at_period_end: atEnd } = params
  if (at === '') return NO_CANCELLATION
  if (atEnd === false) return row.cancel_at_period_end ? NO_CANCELLATION : {}
  if (at === undefined && atEnd === undefined) return {}
  return {
    cancel_at: typeof at === 'number' ? at : periodOf(row).end,
    cancel_at_period_end: atEnd === true,
    canceled_at: row.canceled_at ?? now,
  }
}
