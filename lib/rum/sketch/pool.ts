import type { Measure } from './measures.ts'
import { nearRanks } from './near-ranks.ts'
import { percentiles } from './percentiles.ts'

/** Fewer are sorted as quickly. */
const MANY = 5_000

/**
 * The values of many measures of one metric, taken together as they are: percentiles are never
 * averaged, and sketches not compressed again.
 */
export class Pool {
  #packed = new Float64Array(64)
  #length = 0
  n = 0
  good = 0
  needsImprovement = 0
  poor = 0

  add({ sketch, good, needsImprovement, poor }: Measure): void {
    this.#append(sketch.packed())
    this.n += sketch.n
    this.good += good
    this.needsImprovement += needsImprovement
    this.poor += poor
  }

  /** At ascending shares; empty: there are no values. */
  percentiles(shares: readonly number[]): number[] {
    const all = this.#packed.subarray(0, this.#length)
    const ranks = shares.map((share) => this.n * share)
    const sorted = all.length < MANY ? all.sort() : nearRanks(all, ranks)
    return percentiles(sorted, this.n, shares)
  }

  #append(packed: Float64Array): void {
    const length = this.#length + packed.length
    if (length > this.#packed.length) {
      const larger = new Float64Array(Math.max(length, this.#packed.length * 2))
      larger.set(this.#packed)
      this.#packed = larger
    }
    this.#packed.set(packed, this.#length)
    this.#length = length
  }
}
