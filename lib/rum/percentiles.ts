import type { Centroid } from './sketch.ts'

/**
 * The percentiles of what centroids in order of their means stand for, by Hazen: of n values the
 * i-th has the rank i - 1/2, and between two ranks it is interpolated. A centroid of one value
 * holds the ranks of all its values, a mixed one only that of its middle. Empty: none.
 */
export function percentiles(centroids: readonly Centroid[], shares: readonly number[]): number[] {
  if (centroids.length === 0) return []
  let total = 0
  for (const { n } of centroids) total += n
  const walk = new RankWalk(centroids)
  return shares.map((share) => walk.at(total * share))
}

/** Walks to higher ranks only. */
class RankWalk {
  readonly #centroids: readonly Centroid[]
  #at = 0
  /** Values before the current centroid. */
  #before = 0
  /** The last rank of the centroid before. */
  #lastRank = 0

  constructor(centroids: readonly Centroid[]) {
    this.#centroids = centroids
  }

  at(rank: number): number {
    for (; this.#at < this.#centroids.length; this.#step()) {
      const centroid = this.#centroids[this.#at]
      if (centroid === undefined) break
      const { first, last } = ranks(centroid, this.#before)
      if (rank <= last) return this.#between(rank, first, centroid.mean)
    }
    return this.#centroids.at(-1)?.mean ?? Number.NaN
  }

  #between(rank: number, first: number, mean: number): number {
    const previous = this.#centroids[this.#at - 1]
    if (rank >= first || previous === undefined) return mean
    const share = (rank - this.#lastRank) / (first - this.#lastRank)
    return previous.mean + share * (mean - previous.mean)
  }

  #step(): void {
    const centroid = this.#centroids[this.#at]
    if (centroid !== undefined) {
      this.#lastRank = ranks(centroid, this.#before).last
      this.#before += centroid.n
    }
    this.#at += 1
  }
}

function ranks({ n, mixed }: Centroid, before: number) {
  if (mixed) return { first: before + n / 2, last: before + n / 2 }
  return { first: before + 0.5, last: before + n - 0.5 }
}
