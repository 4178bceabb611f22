import type { CapShare } from '../../contract/account/cap-shares.ts'
import type { Query } from '../../parts/sql.ts'

/** The notices that were already given in a period. */
export interface Warned {
  /** The largest share of the cap, in per cent; 0: none. */
  readonly warned: number
  /** The cap that it is a share of: after a change of plan, all notices are due again. */
  readonly warnedCap: number
  /** The largest spending cap that was reached, in units; 0: none. */
  readonly warnedUnits: number
}

/** The most that a user pays for requests over the cap in a period. */
export interface Spending {
  readonly maxUnits: number
  /** What they cost at most, in the smallest unit of the currency. */
  readonly spendingCap: number
  readonly currency: string
}

export type Threshold = 'near_cap' | 'reach_cap' | 'reach_spending_cap'

/** A user has reached a share of the cap, or the spending cap. */
export type CapNotice = { readonly userId: string } & (
  | (CapShare & { readonly threshold: 'near_cap' | 'reach_cap'; readonly cap: number })
  | { readonly threshold: 'reach_spending_cap'; readonly spending: Spending }
)

/** A notice, and the statements that record it. */
export type DueNotice = CapNotice & { readonly records: readonly Query[] }
