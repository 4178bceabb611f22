import { DAY_MS } from '../durations.ts'
import type { Period } from './period.ts'

/** The requests paid for in one period, after a change of plan or interval within it. */
export interface PaidRequests {
  readonly requests: number
  /** The end of that period, in epoch milliseconds. */
  readonly until: number
}

/** The most requests of the period that are answered in full: those of the plan, as far as they are paid. */
export function capIn(
  period: Period,
  { monthlyCap }: { readonly monthlyCap: number },
  paid: PaidRequests | undefined,
): number {
  return Math.min(monthlyCap, requestsPaid(period, paid) ?? monthlyCap)
}

/** undefined: nothing was changed in this period, and the plan's cap is paid. */
export function requestsPaid(period: Period, paid: PaidRequests | undefined): number | undefined {
  // Stripe's clock, or a payment confirmed later, may move the period by less than a day.
  const isOfPeriod = paid !== undefined && Math.abs(paid.until - period.end) < DAY_MS
  return isOfPeriod ? paid.requests : undefined
}

/** Reads them from two columns, which are null together. */
export function toPaidRequests(
  requests: number | null,
  until: number | null,
): PaidRequests | undefined {
  return requests === null || until === null ? undefined : { requests, until }
}
