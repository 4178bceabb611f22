import { DAY_MS } from '../parts/durations.ts'
import type { BillingPeriod } from './period.ts'

/**
 * Requests that were used before a change of the billing interval, but count in the first month after it,
 * because the change credited the paid time that they had used up.
 */
export interface CarriedRequests {
  readonly requests: number
  /** The end of that month, in epoch milliseconds. */
  readonly until: number
}

/** How many requests of the period are answered in full without overages. */
export function capIn(
  period: BillingPeriod,
  { monthlyCap }: { readonly monthlyCap: number },
  carried: CarriedRequests | undefined,
): number {
  return Math.max(0, monthlyCap - carriedInto(period, carried))
}

export function carriedInto(period: BillingPeriod, carried: CarriedRequests | undefined): number {
  // Stripe's clock, or a payment confirmed later, may move the period by less than a day.
  const isOfPeriod = carried !== undefined && Math.abs(carried.until - period.end) < DAY_MS
  return isOfPeriod ? carried.requests : 0
}

/** Reads them from two columns: either both are null, or neither is. */
export function toCarriedRequests(
  requests: number | null,
  until: number | null,
): CarriedRequests | undefined {
  return requests === null || until === null ? undefined : { requests, until }
}
