import { countOf, isMixed, meanOf } from './packed.ts'

/**
 * The percentiles of what packed centroids in ascending order stand for, at ascending shares, by
 * Hazen: of n values the i-th has the rank i - 1/2, and between two ranks it is interpolated. A
 * centroid of one value holds the ranks of all its values, a mixed one only that of its middle.
 * Empty: there are no values.
 */
export function percentiles(
  sorted: Float64Array,
  total: number,
  shares: readonly number[],
): number[] {
  if (sorted.length === 0) return []
  const walk = new RankWalk(sorted)
  return shares.map((share) => walk.at(total * share))
}

/** Walks to higher ranks only. */
class RankWalk {
  readonly #sorted: Float64Array
  #at = 0
  /** Values before the current centroid. */
  #before = 0
  #mean = 0
  #n = 0
  #first = 0
  #last = 0
  #previousMean = 0
  #previousLast = 0

  constructor(sorted: Float64Array) {
    this.#sorted = sorted
    this.#read()
    this.#previousMean = this.#mean
  }

  at(rank: number): number {
    while (rank > this.#last && this.#at + 1 < this.#sorted.length) this.#step()
    if (rank >= this.#first || this.#at === 0) return this.#mean
    const share = (rank - this.#previousLast) / (this.#first - this.#previousLast)
    return this.#previousMean + share * (this.#mean - this.#previousMean)
  }

  #step(): void {
    this.#previousMean = this.#mean
    this.#previousLast = this.#last
    this.#before += this.#n
    this.#at += 1
    this.#read()
  }

  #read(): void {
    const packed = this.#sorted[this.#at] ?? 0
    this.#mean = meanOf(packed)
    this.#n = countOf(packed)
    const edge = isMixed(packed) ? this.#n / 2 : 0.5
    this.#first = this.#before + edge
    this.#last = this.#before + this.#n - edge
  }
}
