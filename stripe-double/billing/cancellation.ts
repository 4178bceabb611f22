import type Stripe from 'stripe'
import type { ChangeParam } from './change-params.ts'
import { periodOf } from './period.ts'

/**
 * What marks it for its end, or takes the mark away.
 * `cancel_at_period_end: false` does not clear a `cancel_at` that came by itself.
 */
export function cancellationOf(
  row: Stripe.Subscription,
  params: ChangeParam,
  now: number,
): Partial<Stripe.Subscription> {
  const { cancel_at, cancel_at_period_end: atEnd } = params
  if (atEnd === true) return marked(row, periodOf(row).end, { atEnd, params, now })
  if (atEnd === false) return row.cancel_at_period_end ? unmarked() : {}
  if (cancel_at === undefined) return {}
  if (cancel_at === '') return unmarked()
  const at = typeof cancel_at === 'number' ? cancel_at : periodOf(row).end
  return marked(row, at, { atEnd: false, params, now })
}

function marked(
  row: Stripe.Subscription,
  cancel_at: number,
  { atEnd, params, now }: { atEnd: boolean; params: ChangeParam; now: number },
): Partial<Stripe.Subscription> {
  const { comment = null, feedback = null } = params.cancellation_details ?? {}
  return {
    cancel_at,
    cancel_at_period_end: atEnd,
    canceled_at: row.canceled_at ?? now,
    cancellation_details: {
      comment,
      feedback,
      feedback_option: null,
      reason: 'cancellation_requested',
    },
  }
}

function unmarked(): Partial<Stripe.Subscription> {
  return {
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
  }
}
