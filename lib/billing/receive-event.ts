import type { StripeEvent } from '../contract/billing-schemas.ts'
import type { Statement } from '../db/unit.ts'
import { ApiError } from '../errors.ts'
import { findOrAdopt } from './adopt.ts'
import type { Billing } from './billing.ts'
import { subjectOf } from './event-subject.ts'
import type { Overages } from './overages.ts'
import { hasReceived, insertEvent } from './processor-events.ts'
import type { Signed } from './signed-event.ts'
import type { Taken } from './sync.ts'
import { noteOf } from './taken-note.ts'

export interface Receivers {
  readonly billing: Billing
  readonly overages: Pick<Overages, 'reportAll'>
}

/**
 * Takes an event of the payment processor: whatever it tells, the user's subscription is asked for
 * and taken over as it is now, so that events may come twice, late and in any order. Throws
 * BAD_REQUEST for an event that is not theirs, and BILLING_UNAVAILABLE to get it once more.
 */
export async function receiveEvent(
  { billing, overages }: Receivers,
  signed: Signed,
  now: number,
): Promise<void> {
  if (billing.webhookSecrets.length === 0) throw notConfigured()
  const { readSignedEvent } = await import('./signed-event.ts')
  const event = await readSignedEvent(signed, billing.webhookSecrets, now)
  const subject = subjectOf(event)
  if (subject === null) return
  const userId = await findOrAdopt(billing, subject, now)
  if (userId === null) return
  // While the invoice of a period that has ended is a draft, what was used in it can be added.
  if (event.type === 'invoice.created') await overages.reportAll(userId)
  const calls = billing.begin()
  await billing.inTurn(userId, async () => {
    if (await hasReceived(billing.db, event.id)) return
    await billing.sync(calls, userId, (taken) => [
      insertEvent(billing.db, { id: event.id, type: event.type, receivedAt: now }),
      ...auditRows(billing, { event, userId, taken }),
    ])
  })
}

function auditRows(
  { auditTold }: Billing,
  { event, userId, taken }: { event: StripeEvent; userId: string; taken: Taken },
): Statement[] {
  const notes = [event.type === 'invoice.payment_failed' ? failureOf(event) : null, noteOf(taken)]
  return notes.filter((note) => note !== null).map((note) => auditTold(userId, note))
}

function failureOf({ data }: StripeEvent) {
  const { id } = data.object
  const targetId = typeof id === 'string' ? id : null
  return { action: 'payment_failed', targetType: 'invoice', targetId, detail: null }
}

function notConfigured(): ApiError {
  return new ApiError('BILLING_NOT_CONFIGURED', 'No signing secret is set')
}
