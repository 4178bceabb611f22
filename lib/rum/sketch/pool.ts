import type { Span } from './centroids.ts'
import type { Rated } from './measures.ts'
import { nearRanks } from './near-ranks.ts'
import { percentiles } from './percentiles.ts'

/** With fewer centroids than this, sorting all of them is faster. */
const MANY = 150

/** Combines several measures of one metric, without merging or copying their centroids. */
export class Pool {
  readonly #spans: Span[] = []
  #length = 0
  n = 0
  good = 0
  needsImprovement = 0
  poor = 0

  add({ sketch, good, needsImprovement, poor }: Rated<Span>): void {
    this.#spans.push(sketch)
    this.#length += sketch.to - sketch.from
    this.n += sketch.n
    this.good += good
    this.needsImprovement += needsImprovement
    this.poor += poor
  }

  /** Adds the measures of another pool. */
  join(other: Pool): void {
    for (const span of other.#spans) this.#spans.push(span)
    this.#length += other.#length
    this.n += other.n
    this.good += other.good
    this.needsImprovement += other.needsImprovement
    this.poor += other.poor
  }

  /** The percentiles at ascending shares; empty if there are no values. */
  percentiles(shares: readonly number[]): number[] {
    const ranks = shares.map((share) => this.n * share)
    const sorted = this.#length < MANY ? this.#sorted() : nearRanks(this.#spans, ranks)
    return percentiles(sorted, this.n, shares)
  }

  #sorted(): Float64Array {
    const all = new Float64Array(this.#length)
    let length = 0
    for (const { chunk, from, to } of this.#spans) {
      all.set(chunk.packed.subarray(from, to), length)
      length += to - from
    }
    return all.sort()
  }
}
