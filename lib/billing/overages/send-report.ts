import type { Billing } from '../billing.ts'
import type { Stripe } from '../stripe/stripe-calls.ts'
import { IDENTIFIER_USED, StripeRefusal } from '../stripe/stripe-refusal.ts'
import { findSubscription } from '../subscription/subscriptions.ts'
import { readMeter } from './meter.ts'
import { isForgotten, isTooLate } from './overage-report.ts'
import { changeReport, type OverageReport } from './overage-store.ts'

/**
 * Sends the report to Stripe. However often it is called, Stripe counts the units once. While Stripe
 * remembers the identifier, it ignores a second event; later, we first ask Stripe what has arrived.
 * Throws BILLING_UNAVAILABLE, a `StripeRefusal` or a `StripeDenial`.
 */
export async function sendReport(
  billing: Billing,
  report: OverageReport,
  now: number,
): Promise<void> {
  const stripe = billing.openStripe()
  const isMoved = isTooLate(report, now) && (await hasNextInvoice(billing, report))
  const at = isMoved ? now : report.at
  const isUncertain = isForgotten(report, now) || (isMoved && report.firstTriedAt !== null)
  if (!isUncertain || !(await hasArrived(billing, stripe, report, at))) {
    const isFirst = report.firstTriedAt === null || isUncertain
    if (isFirst) await changeReport(billing.db, report, { at, firstTriedAt: now })
    const { identifier, customerId } = report
    await sendMeterEvent(stripe, { identifier, customerId, units: unitsOf(report), at })
  }
  await changeReport(billing.db, report, { sentAt: now })
}

/** The name of the meter's events; docs/overages.md contains it too. */
export const OVERAGE_EVENT = 'meridian_overage'

interface MeterEvent {
  /** Stripe counts events with the same identifier once, for at least a day. */
  readonly identifier: string
  readonly customerId: string
  readonly units: number
  /** Epoch milliseconds. */
  readonly at: number
}

/** Stripe checks the event at once, but adds it to the sum later. */
export async function sendMeterEvent(
  stripe: Stripe,
  { identifier, customerId, units, at }: MeterEvent,
): Promise<void> {
  const event = {
    event_name: OVERAGE_EVENT,
    identifier,
    payload: { stripe_customer_id: customerId, value: String(units) },
    timestamp: new Date(at).toISOString(),
  }
  await stripe.v2.billing.meterEvents.create(event).catch((error) => {
    if (!(error instanceof StripeRefusal && error.reason === IDENTIFIER_USED)) throw error
  })
}

/**
 * Each period has at most one unsent report, and we know the units of all sent reports. If Stripe has
 * counted enough units beyond those, they are the units of this report, and we do not send it again.
 */
async function hasArrived(
  billing: Billing,
  stripe: Stripe,
  report: OverageReport,
  until: number,
): Promise<boolean> {
  const time = { start: report.at, end: until }
  const { metered, sent } = await readMeter(billing, stripe, report.customerId, time)
  return metered >= sent + unitsOf(report)
}

/** Whether the user's next invoice can charge for units: the subscription has an overage item. */
async function hasNextInvoice({ db }: Billing, { userId }: OverageReport): Promise<boolean> {
  return typeof (await findSubscription(db, userId))?.overageItemId === 'string'
}

function unitsOf({ fromUnits, toUnits }: OverageReport): number {
  return toUnits - fromUnits
}
