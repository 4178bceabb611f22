import {
  type CapNotice,
  type Spending,
  THRESHOLD_PERCENT,
  type Threshold,
  type Warned,
} from '../db/uses.ts'

/** What a user has used in a period, and the limits that applied to the last request. */
export interface Usage {
  readonly userId: string
  readonly requests: number
  /** How many of them are charged for. */
  readonly overage: number
  readonly cap: number
  /** null: no request is charged for. */
  readonly spending: Spending | null
}

/** Returns the notices that are due and were not given yet. */
export function dueNotices(usage: Usage, { warned, warnedCap, warnedUnits }: Warned): CapNotice[] {
  const { userId, requests, overage, cap, spending } = usage
  const last = cap === warnedCap ? warned : 0
  const notices: CapNotice[] = (['near_cap', 'reach_cap'] as const)
    .filter(
      (threshold) =>
        THRESHOLD_PERCENT[threshold] > last &&
        requests >= (cap * THRESHOLD_PERCENT[threshold]) / 100,
    )
    .map((threshold) => ({ userId, threshold, cap }))
  if (spending !== null && spending.maxUnits > warnedUnits && overage >= spending.maxUnits) {
    notices.push({ userId, threshold: 'reach_spending_cap', spending })
  }
  return notices
}

export function afterNotice(warned: Warned, notice: CapNotice): Warned {
  return notice.threshold === 'reach_spending_cap'
    ? { ...warned, warnedUnits: notice.spending.maxUnits }
    : { ...warned, warned: THRESHOLD_PERCENT[notice.threshold], warnedCap: notice.cap }
}

const NONE: Warned = { warned: 0, warnedCap: 0, warnedUnits: 0 }

/** Returns the limits that are reached, whether or not a notice was given. */
export function thresholdsReached(usage: Usage): Threshold[] {
  return dueNotices(usage, NONE).map(({ threshold }) => threshold)
}
