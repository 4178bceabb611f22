import { DAY_MS } from '../durations.ts'
import type { Period } from './period.ts'

/**
 * Requests that were used before a period began and count in it, because the time that they took was
 * credited when a change of the interval began the period.
 */
export interface CarriedRequests {
  readonly requests: number
  /** The end of that period, in epoch milliseconds. */
  readonly until: number
}

/** The most requests of the period that are answered in full without overages. */
export function capIn(
  period: Period,
  { monthlyCap }: { readonly monthlyCap: number },
  carried: CarriedRequests | undefined,
): number {
  return Math.max(0, monthlyCap - carriedInto(period, carried))
}

export function carriedInto(period: Period, carried: CarriedRequests | undefined): number {
  // Stripe's clock, or a payment confirmed later, may move the period by less than a day.
  const isOfPeriod = carried !== undefined && Math.abs(carried.until - period.end) < DAY_MS
  return isOfPeriod ? carried.requests : 0
}

/** Reads them from two columns, which are null together. */
export function toCarriedRequests(
  requests: number | null,
  until: number | null,
): CarriedRequests | undefined {
  return requests === null || until === null ? undefined : { requests, until }
}
