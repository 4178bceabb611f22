import type { NewRandom } from './bootstrap.ts'
import { type Estimates, estimateMean } from './statistics.ts'

/** How sure an answer says it is, and whether it is right. */
export interface Claim {
  /** 0 to 1; undefined: the answer does not say. */
  readonly stated: number | undefined
  readonly isRight: boolean
  readonly group: string
}

/** Claims of about the same size, and the share of them that is right. */
export interface Bin {
  /** The mean; undefined: these answers do not say how sure they are. */
  readonly stated: number | undefined
  readonly from: number | undefined
  readonly to: number | undefined
  readonly right: Estimates
}

/** Compares each stated value with the share of answers that are right. For few different values. */
export function calibrateByValue(claims: readonly Claim[], newRandom: NewRandom): Bin[] {
  const byValue = Map.groupBy(claims, ({ stated }) => stated)
  return inOrder([...byValue.values()].flatMap((own) => toBin(own, newRandom) ?? []))
}

/**
 * Compares the mean stated value with the share that is right, for values from 0 to 0.1, from 0.1 to 0.2, and so on.
 * Answers that do not state a value do not count.
 */
export function calibrateByTenth(claims: readonly Claim[], newRandom: NewRandom): Bin[] {
  const known = claims.filter(({ stated }) => stated !== undefined)
  const byTenth = Map.groupBy(known, ({ stated = 0 }) => Math.min(9, Math.floor(stated * 10)))
  return inOrder([...byTenth.values()].flatMap((own) => toBin(own, newRandom) ?? []))
}

function toBin(claims: readonly Claim[], newRandom: NewRandom): Bin | undefined {
  const values = claims.map(({ isRight, group }) => ({ group, value: Number(isRight) }))
  const right = estimateMean(values, newRandom)
  const stated = claims.flatMap((claim) => claim.stated ?? [])
  if (right === undefined) return undefined
  if (stated.length === 0) return { stated: undefined, from: undefined, to: undefined, right }
  return {
    stated: stated.reduce((sum, value) => sum + value, 0) / stated.length,
    // Not Math.min(...): a call takes only so many arguments.
    from: stated.reduce((least, value) => Math.min(least, value)),
    to: stated.reduce((most, value) => Math.max(most, value)),
    right,
  }
}

/** Bins without a stated value first. */
function inOrder(bins: readonly Bin[]): Bin[] {
  return bins.toSorted((a, b) => (a.stated ?? -1) - (b.stated ?? -1))
}
