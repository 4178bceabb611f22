import { isUsageError, type UsageRow } from '../../../lib/contract/account/usage-details.ts'
import { type DailyUsage, dailyByOutcome, totalOf } from '../usage/report.ts'

/** Days that the chart shows. */
export const RANGES = { '7': 7, '30': 30 } as const
export type RangeName = keyof typeof RANGES

export interface Requests {
  readonly range: RangeName
  readonly daily: DailyUsage
  readonly total: number
  /** Of as many days before. */
  readonly before: number
  /** Of a day, endpoint and status, newest day first. */
  readonly errors: readonly UsageRow[]
}

/** Rows by day, operation and status of twice the range, whose days `dates` has. */
export function requestsOf(
  rows: readonly UsageRow[],
  dates: readonly string[],
  range: RangeName,
): Requests {
  const shown = dates.slice(-RANGES[range])
  const [first = ''] = shown
  const isShown = ({ day = '' }: UsageRow) => day >= first
  const [own, earlier] = [rows.filter(isShown), rows.filter((row) => !isShown(row))]
  const errors = own
    .filter(({ status = 0 }) => isUsageError(status))
    .toSorted((a, b) => (b.day ?? '').localeCompare(a.day ?? '') || b.requests - a.requests)
  return {
    range,
    daily: dailyByOutcome(own, shown),
    total: totalOf(own).requests,
    before: totalOf(earlier).requests,
    errors,
  }
}
