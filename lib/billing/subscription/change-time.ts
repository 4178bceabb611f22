import { type PaidRequests, requestsPaid, toPaidRequests } from '../../config/paid-requests.ts'
import { monthFrom, type Period, paidPeriod } from '../../config/period.ts'
import type { Plan } from '../../config/plans.ts'
import { DAY_MS, SECOND_MS } from '../../durations.ts'
import type { SubscriptionRow } from './subscriptions.ts'

type PaidTime = Pick<
  SubscriptionRow,
  'chargedFrom' | 'periodStart' | 'periodEnd' | 'interval' | 'paidRequests' | 'paidUntil'
>

interface Change {
  readonly from: Plan
  readonly to: Plan
  /** The requests counted so far in the period, without those charged as overages. */
  readonly used: number
  /** When the change takes effect, in epoch milliseconds. */
  readonly now: number
}

/*
 * A change prorates requests like money. In each period, a plan's requests are paid for in proportion to
 * the time for which the plan is charged. As nobody can use more than is paid for, no sequence of changes
 * pays less for the used requests than they cost in the cheapest of its plans.
 */

/** The period at `now` that requests are counted in: the paid period, or the month of a paid year. */
export function countedPeriod(
  { periodStart: start, periodEnd: end, interval }: PaidTime,
  now: number,
): Period {
  return paidPeriod({ start, end, interval }, Math.min(now, end - 1))
}

/**
 * From when a change of plan is charged and credited, in epoch milliseconds: from now, or from the start
 * of the period within its first day. A downgrade of a plan whose requests are used up faster than its
 * time is credited for the requests that are left. Never before the present plan was charged.
 */
export function changeTime(row: PaidTime, change: Change): number {
  return Math.max(row.chargedFrom, timeOfChange(row, change), timeOfUse(row, change))
}

/** The requests paid for in the period once the plan has changed at `at`; null: the plan's cap. */
export function requestsAfter(row: PaidTime, change: Change, at: number): PaidRequests | null {
  const { from, to, now } = change
  const { start, end } = countedPeriod(row, now)
  const share = (end - at) / (end - start)
  const requests = paidIn(row, change) + (to.monthlyCap - from.monthlyCap) * share
  return toPaid(to, Math.round(requests), end)
}

/**
 * A change of the interval credits the time left and begins a new period. What was used ahead of the time
 * passed counts in the first month of the new period: returns the requests that are left in it (null: the
 * plan's cap), or the earliest time of the change, in epoch milliseconds, if that is later than now.
 */
export function requestsAfterRestart(
  row: PaidTime,
  change: Change,
): PaidRequests | null | { readonly notBefore: number } {
  const { from, to, used, now } = change
  const { start, end } = countedPeriod(row, now)
  const paid = paidIn(row, change)
  const timeLeft = from.monthlyCap * ((end - now) / (end - start))
  const ahead = Math.floor(Math.max(0, Math.min(used, paid) - (paid - timeLeft)))
  const tooMany = Math.max(0, ahead - to.monthlyCap)
  const wait = tooMany === 0 ? 0 : (tooMany / from.monthlyCap) * (end - start)
  const notBefore = toNextSecond(Math.max(row.chargedFrom, now + wait))
  if (notBefore > toNextSecond(now)) return { notBefore }
  return toPaid(to, to.monthlyCap - ahead, monthFrom(now, now).end)
}

/** Says in a preview why a downgrade credits less than the time left; null if it does not. */
export function explainCredit(row: PaidTime, change: Change): string | null {
  const { from, to } = change
  if (timeOfUse(row, change) <= Math.max(row.chargedFrom, timeOfChange(row, change))) return null
  const { start, end } = countedPeriod(row, change.now)
  const share = (end - Math.max(row.chargedFrom, start)) / (end - start)
  const extra = Math.round((from.monthlyCap - to.monthlyCap) * share)
  const spent = Math.max(0, extra - requestsLeft(row, change))
  return `Not credited: ${count(spent)} of the ${count(extra)} additional requests of ${from.name} are used`
}

/** Says in a preview that the rest of the period does not have all requests of the plan; null if it has. */
export function explainRequests(to: Plan, after: PaidRequests | null): string | null {
  if (after === null || after.requests >= to.monthlyCap) return null
  return `Requests in this period: ${count(after.requests)} of the ${count(to.monthlyCap)} of ${to.name}, as far as they are paid`
}

function timeOfChange(row: PaidTime, { now }: Change): number {
  const { start } = countedPeriod(row, now)
  return now - start < DAY_MS ? start : now
}

/** Rounded up to whole seconds, and before the end of the period that requests are counted in. */
function timeOfUse(row: PaidTime, change: Change): number {
  const { from, to, now } = change
  const extra = from.monthlyCap - to.monthlyCap
  if (to.price >= from.price || extra <= 0) return 0
  const { start, end } = countedPeriod(row, now)
  const share = Math.min(requestsLeft(row, change) / extra, 1)
  return Math.min(toNextSecond(end - share * (end - start)), end - SECOND_MS)
}

function requestsLeft(row: PaidTime, change: Change): number {
  return Math.max(0, paidIn(row, change) - change.used)
}

/** The requests paid for in the period, if the plan were not changed. */
function paidIn(row: PaidTime, { from, now }: Change): number {
  const paid = toPaidRequests(row.paidRequests, row.paidUntil)
  return requestsPaid(countedPeriod(row, now), paid) ?? from.monthlyCap
}

function toPaid({ monthlyCap }: Plan, requests: number, until: number): PaidRequests | null {
  return requests === monthlyCap ? null : { requests, until }
}

function toNextSecond(time: number): number {
  return Math.ceil(time / SECOND_MS) * SECOND_MS
}

function count(requests: number): string {
  return requests.toLocaleString('en')
}
