import type Stripe from 'stripe'
import type { ChangeParam } from './change-params.ts'

export const NO_CANCELLATION = {
  cancel_at: null,
  canceled_at: null,
  cancel_at_period_end: false,
} satisfies Partial<Stripe.Subscription>

/**
 * The changes that schedule or undo a cancellation. `cancel_at_period_end: false` does not clear a
 * `cancel_at` that was set on its own. A cancellation at the end of the period follows the period, which
 * ends at `end` after the change; a `cancel_at` that was set on its own stays.
 */
export function cancellationOf(
  row: Stripe.Subscription,
  params: Pick<ChangeParam, 'cancel_at' | 'cancel_at_period_end'>,
  { now, end }: { readonly now: number; readonly end: number },
): Partial<Stripe.Subscription> {
  const { cancel_at: at, cancel_at_period_end: atEnd } = params
  if (at === '') return NO_CANCELLATION
  if (atEnd === false) return row.cancel_at_period_end ? NO_CANCELLATION : {}
  if (at === undefined && atEnd === undefined)
    return row.cancel_at_period_end ? { cancel_at: end } : {}
  return {
    cancel_at: typeof at === 'number' ? at : end,
    cancel_at_period_end: atEnd === true,
    canceled_at: row.canceled_at ?? now,
  }
}
