import type { overagePeriods, overageReports } from '../db/billing-tables.ts'

/** Units of a period that are told to the payment processor, whether they have arrived or not. */
export type OverageReport = typeof overageReports.$inferSelect

/** A period with units that are in no report yet. */
export interface UnreportedPeriod {
  readonly period: typeof overagePeriods.$inferSelect
  readonly counted: number
  readonly reported: number
  /** Epoch milliseconds; 0: never. */
  readonly reportedAt: number
}

const REPORT_EVERY_MS = 60_000
/** Before its end a period is reported as often as we look. */
const LAST_STRETCH_MS = 120_000
/** For an hour after the end the invoice is a draft that takes late units; less what sending takes. */
const DRAFT_MS = 50 * 60_000
/** For a day an identifier is not taken a second time; less what a call takes. */
const IDENTIFIER_HOLDS_MS = 23 * 60 * 60_000
const REFUSED_AGAIN_MS = 60 * 60_000

/** Whether the units are reported now, or later with more of them. */
export function isDue({ period, reportedAt }: UnreportedPeriod, now: number): boolean {
  const isRecent = Math.abs(now - reportedAt) < REPORT_EVERY_MS
  return !isRecent || now >= period.periodEnd - LAST_STRETCH_MS
}

/**
 * The same units of the same period have the same identifier, whoever reports them, and so has what
 * begins with them: a database that was put back may have counted fewer or more of them meanwhile.
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
    at: Math.max(periodStart, Math.min(now, periodEnd - 1000)),
    firstTriedAt: null,
    sentAt: null,
    refusedAt: null,
  }
}

/** Whether the invoice of its period has been closed, so that it has to come on the next one. */
export function isTooLate({ at, periodEnd }: OverageReport, now: number): boolean {
  return at < periodEnd && now >= periodEnd + DRAFT_MS
}

/**
 * Whether the processor may have forgotten an identifier that it took. One that was not tried by what
 * we know may have been, where the database is of a backup that was made right before.
 */
export function isForgotten({ firstTriedAt, at }: OverageReport, now: number): boolean {
  return now - (firstTriedAt ?? at) > IDENTIFIER_HOLDS_MS
}

/** What was refused is tried again once an hour: what it was refused for may be put right. */
export function mayTry({ refusedAt }: OverageReport, now: number): boolean {
  return refusedAt === null || Math.abs(now - refusedAt) >= REFUSED_AGAIN_MS
}
