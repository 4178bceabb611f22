import { type Period, paidPeriod } from '../../config/period.ts'
import type { Plan } from '../../config/plans.ts'
import { SECOND_MS } from '../../durations.ts'
import type { SubscriptionRow } from './subscriptions.ts'

type PaidTime = Pick<SubscriptionRow, 'chargedFrom' | 'periodStart' | 'periodEnd' | 'interval'>

interface Change {
  readonly from: Plan
  readonly to: Plan
  /** The requests counted so far in the period. */
  readonly used: number
  /** When the change takes effect, in epoch milliseconds. */
  readonly now: number
}

/** The period at `now` that requests are counted in: the paid period, or the month of a paid year. */
export function countedPeriod(
  { periodStart: start, periodEnd: end, interval }: PaidTime,
  now: number,
): Period {
  return paidPeriod({ start, end, interval }, Math.min(now, end - 1))
}

/**
 * From when a change of plan is charged and credited, in epoch milliseconds: from now, unless it is a
 * downgrade and a larger share of the additional requests than of the time has been used. Then from when
 * that share of the time will have passed. Both are of the month in a paid year, whose other months are
 * credited by time. Never before the present plan was charged.
 */
export function changeTime(row: PaidTime, change: Change): number {
  return Math.max(row.chargedFrom, change.now, timeOfUse(row, change))
}

/** Says in a preview why a downgrade credits less than the time left; null if it does not. */
export function explainCredit(row: PaidTime, change: Change): string | null {
  const { from, to, used, now } = change
  if (timeOfUse(row, change) <= Math.max(row.chargedFrom, now)) return null
  const extra = from.monthlyCap - to.monthlyCap
  const spent = Math.min(used - to.monthlyCap, extra)
  return `Not credited: ${count(spent)} of the ${count(extra)} additional requests of ${from.name} are used`
}

/** Rounded up to whole seconds, and before the end of the period that requests are counted in. */
function timeOfUse(row: PaidTime, { from, to, used, now }: Change): number {
  const extra = from.monthlyCap - to.monthlyCap
  if (to.price >= from.price || extra <= 0) return 0
  const share = Math.min(Math.max(0, used - to.monthlyCap) / extra, 1)
  const { start, end } = countedPeriod(row, now)
  const first = Math.max(row.chargedFrom, start)
  const time = first + share * (end - first)
  return Math.min(Math.ceil(time / SECOND_MS) * SECOND_MS, end - SECOND_MS)
}

function count(requests: number): string {
  return requests.toLocaleString('en')
}
