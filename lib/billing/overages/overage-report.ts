import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../parts/durations.ts'
import type { OverageReport, UnreportedPeriod } from './overage-store.ts'

const INTERVAL_MS = MINUTE_MS
/** In the last two minutes of a period, units are reported at every check, not once a minute. */
const LAST_PART_MS = 2 * MINUTE_MS
/** A new invoice is a draft for an hour and accepts late units. The last ten minutes are for sending. */
const DRAFT_MS = 50 * MINUTE_MS
/** Stripe remembers an identifier for a day. The last hour is for the call. */
const REMEMBERED_MS = 23 * HOUR_MS

/** Whether to report the units now. If not, they are reported later, together with newer ones. */
export function isDue({ period, reportedAt }: UnreportedPeriod, now: number): boolean {
  const isRecent = Math.abs(now - reportedAt) < INTERVAL_MS
  return !isRecent || now >= period.periodEnd - LAST_PART_MS
}

/**
 * The identifier contains the first unit, but not the last. A server that was restored from a backup
 * may count a different number of units, but Stripe must still recognise the report.
 */
export function toReport(
  { period, counted, reported }: UnreportedPeriod,
  now: number,
): OverageReport {
  const { subscriptionId, periodStart, periodEnd } = period
  return {
    ...period,
    identifier: `ovg:${subscriptionId}:${periodStart / 1000}:${reported}+`,
    fromUnits: reported,
    toUnits: counted,
    at: Math.max(periodStart, Math.min(now, periodEnd - SECOND_MS)),
    firstTriedAt: null,
    sentAt: null,
    refusedAt: null,
  }
}

/** Whether the invoice of the period is closed, so that the next invoice must charge the units. */
export function isTooLate({ at, periodEnd }: OverageReport, now: number): boolean {
  return at < periodEnd && now >= periodEnd + DRAFT_MS
}

/**
 * Whether Stripe may have forgotten the identifier. Even a report without an attempt may have been
 * sent: the database may be a backup that was made before the attempt.
 */
export function isForgotten({ firstTriedAt, at }: OverageReport, now: number): boolean {
  return now - (firstTriedAt ?? at) > REMEMBERED_MS
}

/** A refused report is tried again once an hour: the operator may have removed the cause. */
export function mayTry({ refusedAt }: OverageReport, now: number): boolean {
  return refusedAt === null || Math.abs(now - refusedAt) >= HOUR_MS
}
