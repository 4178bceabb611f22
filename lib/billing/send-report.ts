import type { Billing } from './billing.ts'
import { isForgotten, isTooLate, type OverageReport } from './overage-report.ts'
import { changeReport, countArrived, hasOverageItem } from './overage-store.ts'
import { AlreadyTold, Refusal, type StripeCalls } from './stripe-calls.ts'

/** By this name the meter of the payment processor knows our units; docs/overages.md tells it. */
export const OVERAGE_EVENT = 'meridian_overage'

const MINUTE_MS = 60_000

/**
 * Tells the payment processor of the units, once however often it is called: by the identifier while
 * that holds, and after that by asking what has arrived. Throws BILLING_UNAVAILABLE or a `Refusal`.
 */
export async function sendReport(
  billing: Billing,
  report: OverageReport,
  now: number,
): Promise<void> {
  const calls = billing.begin()
  const moves = isTooLate(report, now) && hasOverageItem(billing.db, report)
  const at = moves ? now : report.at
  const isUncertain = isForgotten(report, now) || (moves && report.firstTriedAt !== null)
  if (!isUncertain || !(await hasArrived(billing, calls, report, at))) {
    const isFirst = report.firstTriedAt === null || isUncertain
    if (isFirst) await changeReport(billing.db, report, { at, firstTriedAt: now })
    await tell(calls, { ...report, at })
  }
  await changeReport(billing.db, report, { sentAt: now })
}

async function tell(calls: StripeCalls, report: OverageReport): Promise<void> {
  const { identifier, customerId, at } = report
  const event = {
    event_name: OVERAGE_EVENT,
    identifier,
    payload: { stripe_customer_id: customerId, value: String(unitsOf(report)) },
    timestamp: Math.floor(at / 1000),
  }
  try {
    await calls.write((stripe, options) => stripe.billing.meterEvents.create(event, options))
  } catch (error) {
    if (!(error instanceof AlreadyTold)) throw error
  }
}

/**
 * Of the minutes up to `until` we know what else was told, and each period has only one report on its
 * way. Where more has arrived than we know of, it counts for this one: nothing is charged twice.
 */
async function hasArrived(
  { db, overagePrice }: Billing,
  calls: StripeCalls,
  report: OverageReport,
  until: number,
): Promise<boolean> {
  // Only this report cannot be sent without it: the others are not to wait.
  if (overagePrice === undefined) throw new Refusal('price_not_set')
  const minutes = { start: minuteOf(report.at), end: minuteOf(until) + MINUTE_MS }
  const { recurring } = await calls.read((stripe, options) =>
    stripe.prices.retrieve(overagePrice, {}, options),
  )
  const asked = {
    customer: report.customerId,
    start_time: minutes.start / 1000,
    end_time: minutes.end / 1000,
  }
  const summaries = await calls.read((stripe, options) =>
    stripe.billing.meters.listEventSummaries(recurring?.meter ?? '', asked, options),
  )
  const told = summaries.data.reduce((sum, { aggregated_value }) => sum + aggregated_value, 0)
  return told >= countArrived(db, report.customerId, minutes) + unitsOf(report)
}

function minuteOf(time: number): number {
  return Math.floor(time / MINUTE_MS) * MINUTE_MS
}

function unitsOf({ fromUnits, toUnits }: OverageReport): number {
  return toUnits - fromUnits
}
