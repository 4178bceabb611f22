import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Ask, BucketStore, Grant } from '../../../lib/limits/buckets/shared-bucket.ts'

/** The shared buckets, in memory and with a clock of its own, by the rule of PostgreSQL's `lease_buckets`. */
export class ModelStore implements BucketStore {
  isAway = false
  time = 0
  asked = 0
  readonly #buckets = new Map<string, { spent: number; at: number }>()
  readonly #nodes: number

  constructor(nodes: number) {
    this.#nodes = nodes
  }

  async charge(asks: readonly Ask[]): Promise<Grant[]> {
    this.asked += 1
    await nextTurn()
    if (this.isAway) throw new Error('away')
    return asks.map((ask) => this.#grant(ask))
  }

  countNodes(): number {
    return this.#nodes
  }

  now(): number {
    return this.time
  }

  #grant({ id, capacity, windowMs, debt, returned, need, want }: Ask): Grant {
    const { spent, at } = this.#buckets.get(id) ?? { spent: 0, at: this.time }
    const kept = Math.min(spent, 2 * capacity + this.#nodes)
    const left = kept - ((this.time - at) * capacity) / windowMs - returned
    const charged = Math.max(0, left) + debt
    const free = Math.max(0, Math.floor(capacity - charged + 1e-6))
    const share = Math.floor(free / (2 * this.#nodes))
    const granted = Math.min(free, Math.max(need, Math.min(want, share)))
    this.#buckets.set(id, { spent: charged + granted, at: this.time })
    return { granted, spent: charged + granted }
  }
}
