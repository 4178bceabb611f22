/** A share of the monthly cap that a user has reached, and who gets to know of it. */
export interface CapShare {
  /** Of the cap, 1 to 100. */
  readonly percent: number
  /** Whether the operator's webhook reports it, whatever the user has chosen. */
  readonly isReported: boolean
  /** Whether it is mailed to the user and to further receivers. */
  readonly isMailed: boolean
}

const REPORTED: readonly number[] = [80, 100]

/** Mailed to users who have not chosen any. */
export const DEFAULT_PERCENTS = REPORTED

/** Almost all users have these. */
const DEFAULT_SHARES = toShares(DEFAULT_PERCENTS)

/** Reads the stored choice, in ascending order; null: the default. */
export function readPercents(stored: string | null): readonly number[] {
  return stored === null ? DEFAULT_PERCENTS : JSON.parse(stored)
}

/** Returns the shares that are announced to a user with this stored choice, in ascending order. */
export function toCapShares(stored: string | null): readonly CapShare[] {
  return stored === null ? DEFAULT_SHARES : toShares(readPercents(stored))
}

function toShares(mailed: readonly number[]): readonly CapShare[] {
  return [...new Set([...REPORTED, ...mailed])]
    .toSorted((a, b) => a - b)
    .map((percent) => ({
      percent,
      isReported: REPORTED.includes(percent),
      isMailed: mailed.includes(percent),
    }))
}
