import { countOf, isMixed, meanOf } from './packed.ts'

/**
 * Computes the percentiles at ascending shares from packed centroids in ascending order. By Hazen's
 * definition, the i-th of n values has the rank i - 1/2, and values between two ranks are
 * interpolated. A centroid of equal values covers the ranks of all its values, a mixed one only its
 * middle rank.
 * Returns nothing if there are no values.
 */
export function percentiles(
  sorted: ArrayLike<number>,
  total: number,
  shares: readonly number[],
): number[] {
  if (sorted.length === 0) return []
  let at = 0
  let current = toRankRange(sorted[at] ?? 0, 0)
  let previous = current
  return shares.map((share) => {
    const rank = total * share
    while (rank > current.last && at + 1 < sorted.length) {
      at += 1
      previous = current
      current = toRankRange(sorted[at] ?? 0, previous.end)
    }
    return valueAt(rank, previous, current)
  })
}

/** The ranks that a centroid covers. */
interface RankRange {
  readonly mean: number
  readonly first: number
  readonly last: number
  /** The number of values up to the end of the centroid. */
  readonly end: number
}

function toRankRange(packed: number, start: number): RankRange {
  const end = start + countOf(packed)
  const edge = isMixed(packed) ? countOf(packed) / 2 : 0.5
  return { mean: meanOf(packed), first: start + edge, last: end - edge, end }
}

function valueAt(rank: number, previous: RankRange, current: RankRange): number {
  if (rank >= current.first || previous === current) return current.mean
  const share = (rank - previous.last) / (current.first - previous.last)
  return previous.mean + share * (current.mean - previous.mean)
}
