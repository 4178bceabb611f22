import type { Plan } from '../../config/plans.ts'
import { SECOND_MS } from '../../durations.ts'
import type { SubscriptionRow } from './subscriptions.ts'

interface Change {
  readonly from: Plan
  readonly to: Plan
  /** The requests of the period so far. */
  readonly used: number
  /** When the change takes effect, in epoch milliseconds. */
  readonly now: number
}

/**
 * From when a change of plan is charged and credited, in epoch milliseconds: from now, unless it is a
 * downgrade and a larger share of the additional requests than of the time has been used. Then from when
 * that share of the time will have passed. Never before the present plan was charged.
 */
export function changeTime(
  row: Pick<SubscriptionRow, 'chargedFrom' | 'periodEnd'>,
  change: Change,
): number {
  return Math.max(row.chargedFrom, change.now, timeOfUse(row, change))
}

/** Says in a preview why a downgrade credits less than the time left; null if it does not. */
export function explainCredit(
  row: Pick<SubscriptionRow, 'chargedFrom' | 'periodEnd'>,
  change: Change,
): string | null {
  const { from, to, used, now } = change
  if (timeOfUse(row, change) <= Math.max(row.chargedFrom, now)) return null
  const extra = from.monthlyCap - to.monthlyCap
  const spent = Math.min(used - to.monthlyCap, extra)
  return `Not credited: ${count(spent)} of the ${count(extra)} additional requests of ${from.name} are used`
}

/** Rounded up to whole seconds, and before the end of the period. */
function timeOfUse(
  { chargedFrom, periodEnd }: Pick<SubscriptionRow, 'chargedFrom' | 'periodEnd'>,
  { from, to, used }: Change,
): number {
  const extra = from.monthlyCap - to.monthlyCap
  if (to.price >= from.price || extra <= 0) return 0
  const share = Math.min(Math.max(0, used - to.monthlyCap) / extra, 1)
  const time = chargedFrom + share * (periodEnd - chargedFrom)
  return Math.min(Math.ceil(time / SECOND_MS) * SECOND_MS, periodEnd - SECOND_MS)
}

function count(requests: number): string {
  return requests.toLocaleString('en')
}
