import { DAY_MS } from '../durations.ts'

/** A billing period from `start` up to, but not including, `end`, in epoch milliseconds. */
export interface Period {
  readonly start: number
  readonly end: number
}

/** The calendar month of `now`, UTC. */
export function monthOf(now: number): Period {
  const date = new Date(now)
  const year = date.getUTCFullYear()
  const month = date.getUTCMonth()
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
}

/**
 * The paid period at `now`. If the stored period has ended, Stripe has not reported the next one yet;
 * we assume that it has the same length.
 */
export function paidPeriod(paid: Period, now: number): Period {
  const { start, end } = paid
  if (now < end || end <= start) return paid
  const length = end - start
  const next = end + Math.floor((now - end) / length) * length
  return { start: next, end: next + length }
}

export function contains({ start, end }: Period, now: number): boolean {
  return start <= now && now < end
}

/** Days from 1970-01-01 to the day of `now`, UTC. */
export function dayOf(now: number): number {
  return Math.floor(now / DAY_MS)
}

/** The day as `2026-01-15`. */
export function dateOfDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10)
}
