import type { AuditNote } from '../../contract/account/audit-actions.ts'
import { StripeEvent } from '../../contract/billing/billing-schemas.ts'
import { DAY_MS } from '../../parts/durations.ts'
import { ApiError } from '../../parts/errors.ts'
import { parse } from '../../parts/parse.ts'
import type { Billing } from '../billing.ts'
import type { Overages } from '../overages/overages.ts'
import type { EventSubject, SignedEvent } from '../stripe/events.ts'
import { REVERSAL_EVENTS, type Reversal } from '../stripe/reversals.ts'
import { StripeDenial } from '../stripe/stripe-refusal.ts'
import { findOrAssign } from '../subscription/customers.ts'
import { auditSync, sync } from '../subscription/sync.ts'
import { hasReceived, insertEvent } from './received-events.ts'

/** Stripe lists events for this long. */
const LISTED_MS = 30 * DAY_MS

interface Receiver {
  readonly billing: Billing
  readonly overages: Pick<Overages, 'reportAll'>
}

/**
 * Receives an event from Stripe. Whatever the event says, we read the user's current subscription from
 * Stripe, so events may come twice, late and in any order. Throws BAD_REQUEST unless Stripe signed the
 * event, and BILLING_UNAVAILABLE if Stripe must deliver it again.
 */
export async function receiveEvent(
  { billing, overages }: Receiver,
  signed: SignedEvent,
  now: number,
): Promise<void> {
  if (billing.webhookSecrets.length === 0) {
    throw new ApiError('BILLING_NOT_CONFIGURED', 'No signing secret is set')
  }
  const { readSignedEvent } = await billing.loadEvents()
  const event = await readSignedEvent(signed, billing.webhookSecrets, now)
  await applyEvent({ billing, overages }, event, now)
}

/**
 * Applies the refunds and disputes of the last 30 days whose events did not arrive. Unlike other events,
 * no comparison of subscriptions would show them. Does nothing if the key may not read them.
 */
export async function applyMissedReversals(
  receiver: { readonly billing: Billing; readonly overages: Pick<Overages, 'reportAll'> },
  now: number,
): Promise<void> {
  const { billing } = receiver
  try {
    for (const event of await billing.openStripe().listReversalEvents(now - LISTED_MS)) {
      await applyEvent(receiver, parse(StripeEvent, event), now)
    }
  } catch (error) {
    if (!(error instanceof StripeDenial)) throw error
  }
}

/** Applies an event that Stripe signed or listed. Does nothing if it was applied before. */
async function applyEvent(
  { billing, overages }: Receiver,
  event: StripeEvent,
  now: number,
): Promise<void> {
  const { subjectOf } = await billing.loadEvents()
  if (REVERSAL_EVENTS.includes(event.type) && (await hasReceived(billing.db, event.id))) return
  const reversal = await readReversal(billing, event)
  const subject = reversal === null ? subjectOf(event) : toSubject(reversal)
  if (subject === null) return
  const userId = await findOrAssign(billing, subject, now)
  if (userId === null) return
  // If this invoice ends a period, the period's last units can be reported until it is finalized.
  if (event.type === 'invoice.created') await overages.reportAll(userId)
  const notes = [
    ...(event.type === 'invoice.payment_failed' ? [toFailedPayment(event)] : []),
    ...(reversal === null ? [] : [reversal.note]),
  ]
  const stripe = billing.openStripe()
  await billing.enqueue(userId, async () => {
    if (await hasReceived(billing.db, event.id)) return
    // A customer who gets the money back loses the plan, without credit.
    if (reversal?.lostSubscription != null) await stripe.cancelNow(reversal.lostSubscription)
    await sync(billing, stripe, userId, (result) => [
      insertEvent(billing.db, { id: event.id, type: event.type, receivedAt: now }),
      ...notes.map((note) => billing.auditStripe(userId, note)),
      ...auditSync(billing, userId, result),
    ])
  })
}

function toSubject({ customerId }: Reversal): EventSubject | null {
  return customerId === null ? null : { customer: customerId, user: null }
}

function toFailedPayment({ data }: StripeEvent): AuditNote {
  const { id } = data.object
  const targetId = typeof id === 'string' ? id : null
  return { action: 'payment_failed', targetType: 'invoice', targetId }
}

/** A refund or dispute that an event reports, and its audit row. */
interface ReportedReversal extends Reversal {
  readonly note: AuditNote
}

/**
 * Reads the refund or dispute of the event from Stripe, so the order of events does not matter. Returns
 * null for other events.
 */
async function readReversal(
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
