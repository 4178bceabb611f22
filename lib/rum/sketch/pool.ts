import type { Measure } from './measures.ts'
import { nearRanks } from './near-ranks.ts'
import { percentiles } from './percentiles.ts'

/** With fewer centroids than this, sorting all of them is faster. */
const MANY = 150

type Counts = Pick<Pool, 'n' | 'good' | 'needsImprovement' | 'poor'>

/** Combines several measures of one metric, without merging their centroids. */
export class Pool {
  #packed = new Float64Array()
  #length = 0
  n = 0
  good = 0
  needsImprovement = 0
  poor = 0

  add({ sketch, good, needsImprovement, poor }: Measure): void {
    this.#add(sketch.packed(), { n: sketch.n, good, needsImprovement, poor })
  }

  /** Adds the measures of another pool. */
  join(other: Pool): void {
    this.#add(other.#packed.subarray(0, other.#length), other)
  }

  #add(packed: Float64Array, { n, good, needsImprovement, poor }: Counts): void {
    this.#append(packed)
    this.n += n
    this.good += good
    this.needsImprovement += needsImprovement
    this.poor += poor
  }

  /** The percentiles at ascending shares; empty if there are no values. */
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
