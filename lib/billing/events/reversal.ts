import type { AuditNote } from '../../contract/account/audit-actions.ts'
import type { StripeEvent } from '../../contract/billing/billing-schemas.ts'
import type { Billing } from '../billing.ts'
import { REVERSAL_EVENTS, type Reversal } from '../stripe/reversals.ts'

/** A refund or dispute that an event reports, and its audit row. */
export interface ReportedReversal extends Reversal {
  readonly note: AuditNote
}

/**
 * Reads the refund or dispute of the event from Stripe, so the order of events does not matter. Returns
 * null for other events.
 */
export async function readReversal(
  billing: Billing,
  { type, data }: StripeEvent,
): Promise<ReportedReversal | null> {
  const { id } = data.object
  if (!REVERSAL_EVENTS.includes(type) || typeof id !== 'string') return null
  const stripe = billing.openStripe()
  const isRefund = type === 'charge.refunded'
  const reversal = isRefund ? await stripe.getRefund(id) : await stripe.getDispute(id)
  const { amount, paid, currency, dispute } = reversal
  const sum = `${amount} of ${paid} ${currency}`
  return {
    ...reversal,
    note: {
      action: actionOf(type),
      targetType: isRefund ? 'charge' : 'dispute',
      targetId: id,
      detail: dispute === null ? sum : `${dispute}: ${sum}`,
    },
  }
}

function actionOf(type: string): AuditNote['action'] {
  if (type === 'charge.refunded') return 'payment_refunded'
  return type === 'charge.dispute.created' ? 'payment_disputed' : 'dispute_closed'
}
