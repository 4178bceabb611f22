import type { AuditNote } from '../../contract/account/audit-actions.ts'
import type { StripeEvent } from '../../contract/billing/billing-schemas.ts'
import { ApiError } from '../../parts/errors.ts'
import type { Billing } from '../billing.ts'
import { findStripeAccount, WrongStripeAccount } from '../mirror/stripe-account.ts'
import type { Overages } from '../overages/overages.ts'
import type { SignedEvent } from '../stripe/events.ts'
import { findOrAssign, UnknownCustomer } from '../subscription/customers.ts'
import { settleLeftovers } from '../subscription/leftovers.ts'
import { auditSync, sync } from '../subscription/sync.ts'
import { hasReceived, insertEvent } from './received-events.ts'

/** The events after which the last units of a period are due. */
const LAST_UNITS = ['invoice.created', 'customer.subscription.deleted']
/** The events after which invoices are to be collected or to become void. */
const SETTLING = ['customer.subscription.created', 'customer.subscription.deleted']

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
    throw new ApiError(
      'BAD_REQUEST',
      'Stripe-Signature: no signing secret is set to verify it with',
    )
  }
  const { readSignedEvent, subjectOf } = await billing.loadEvents()
  const event = await readSignedEvent(signed, billing.webhookSecrets, now)
  const subject = subjectOf(event)
  if (subject === null || (await isForeign(billing, event))) return
  const userId = await findOrAssign(billing, subject, now)
  if (userId === null) return
  // If this invoice ends a period, the period's last units can be reported until it is finalized.
  if (LAST_UNITS.includes(event.type)) await overages.reportAll(userId)
  const notes = event.type === 'invoice.payment_failed' ? [toFailedPayment(event)] : []
  const stripe = billing.openStripe()
  const apply = async () => {
    if (await hasReceived(billing.db, event.id)) return
    await sync(billing, stripe, userId, (result) => [
      insertEvent(billing.db, { id: event.id, type: event.type, receivedAt: now }),
      ...notes.map((note) => billing.auditStripe(userId, note)),
      ...auditSync(billing, userId, result),
    ])
    if (SETTLING.includes(event.type)) await settleLeftovers(billing, subject.customer, now)
  }
  await billing.enqueue(userId, apply).catch(ignoreUnknown)
}

/** For `catch`: delivering the event again would not help; the reconciliation reports customers that Stripe lacks. */
function ignoreUnknown(error: unknown): void {
  if (!(error instanceof UnknownCustomer)) throw error
}

/**
 * Whether the event is of a connected account, or of the mode that neither the key nor our customers have. If
 * only the key has another mode, throws WrongStripeAccount: Stripe keeps the event until the key is right.
 */
async function isForeign(
  { db, mode }: Billing,
  { account, livemode }: StripeEvent,
): Promise<boolean> {
  if (account !== undefined) return true
  const modeOfEvent = livemode ? 'live' : 'test'
  if (livemode === undefined || modeOfEvent === mode) return false
  const expected = await findStripeAccount(db)
  if (expected?.mode === modeOfEvent)
    throw new WrongStripeAccount(expected, { account: null, mode })
  return true
}

function toFailedPayment({ data }: StripeEvent): AuditNote {
  const { id } = data.object
  const targetId = typeof id === 'string' ? id : null
  return { action: 'payment_failed', targetType: 'invoice', targetId }
}
