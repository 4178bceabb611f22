import type { Billing } from '../billing.ts'
import type { StripeGateway } from '../stripe/gateway.ts'
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
    await stripe.sendMeterEvent({ identifier, customerId, units: unitsOf(report), at })
  }
  await changeReport(billing.db, report, { sentAt: now })
}

/**
 * Each period has at most one unsent report, and we know the units of all sent reports. If Stripe has
 * counted enough units beyond those, they are the units of this report, and we do not send it again.
 */
async function hasArrived(
  billing: Billing,
  stripe: StripeGateway,
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
