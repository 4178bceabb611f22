import type { Interval } from '../contract/billing/price-schemas.ts'
import { DAY_MS } from '../parts/durations.ts'

/** A billing period from `start` up to, but not including, `end`, in epoch milliseconds. */
export interface BillingPeriod {
  readonly start: number
  readonly end: number
}

/** The calendar month of `now`, UTC. */
export function monthOf(now: number): BillingPeriod {
  const date = new Date(now)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth()
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
}

/** The period for which a subscription is paid. */
export interface SubscriptionPeriod extends BillingPeriod {
  /** Requests of a paid year are counted by month. */
  readonly interval: Interval
}

/**
 * The period at `now` in which requests are counted: the paid period, or one month of a paid year. If
 * the stored period has ended, Stripe has not reported the next one yet: we assume the same length.
 */
export function paidPeriod(paid: SubscriptionPeriod, now: number): BillingPeriod {
  const { start, end, interval } = paid
  if (interval === 'year') return monthFrom(start, now)
  if (now < end || end <= start) return paid
  const length = end - start
  const next = end + Math.floor((now - end) / length) * length
  return { start: next, end: next + length }
}

/** The month of `now` if months begin on the day of `anchor`, or on the last day of shorter months. */
function monthFrom(anchor: number, now: number): BillingPeriod {
  const [from, at] = [new Date(anchor), new Date(now)]
  const years = at.getUTCFullYear() - from.getUTCFullYear()
  const months = 12 * years + at.getUTCMonth() - from.getUTCMonth()
  const first = Math.max(0, addMonths(anchor, months) <= now ? months : months - 1)
  return { start: addMonths(anchor, first), end: addMonths(anchor, first + 1) }
}

function addMonths(time: number, count: number): number {
  const date = new Date(time)
  const day = date.getUTCDate()
  date.setUTCDate(1)
  date.setUTCMonth(date.getUTCMonth() + count)
  const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  return date.setUTCDate(Math.min(day, last))
}

export function contains({ start, end }: BillingPeriod, now: number): boolean {
  return start <= now && now < end
}

/** Days from 1970-01-01 to the day of `now`, UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS)
}

/** As many days up to that of `now`, oldest first, as `2026-01-15`. */
export function daysUpTo(now: number, count: number): string[] {
  return Array.from({ length: count }, (_, n) => dateOfDay(dayOf(now) - count + 1 + n))
}

/** The day as `2026-01-15`. */
export function dateOfDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}
