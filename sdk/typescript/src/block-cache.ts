import { type Address, type Block, blockAround } from './address.ts'

export interface CacheOptions {
  /** Blocks that are kept at most; the ones used least recently are dropped first. */
  readonly entries: number
  /** Milliseconds that an answer is kept. */
  readonly ttlMs: number
}

interface Entry<Answer> {
  readonly answer: Answer
  /** Epoch milliseconds. */
  readonly expires: number
}

/** Keeps answers by the block of addresses that share them, apart for each kind of answer. */
export class BlockCache<Answer> {
  /** The order is that of the last use. */
  readonly #entries = new Map<string, Entry<Answer>>()
  /** Lengths of the blocks that were kept, by version. */
  readonly #lengths = { 4: new Set<number>(), 6: new Set<number>() }
  readonly #options: CacheOptions

  constructor(options: CacheOptions) {
    this.#options = options
  }

  find(address: Address, kind: string, now: number): Answer | undefined {
    for (const length of this.#lengths[address.version]) {
      const key = keyOf(blockAround(address, length), kind)
      const entry = this.#entries.get(key)
      if (entry === undefined) continue
      this.#entries.delete(key)
      if (entry.expires <= now) continue
      this.#entries.set(key, entry)
      return entry.answer
    }
    return undefined
  }

  keep(block: Block, kind: string, answer: Answer, now: number): void {
    const key = keyOf(block, kind)
    this.#lengths[block.version].add(block.length)
    this.#entries.delete(key)
    this.#entries.set(key, { answer, expires: now + this.#options.ttlMs })
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.#options.entries && oldest !== undefined) {
      this.#entries.delete(oldest)
    }
  }
}

function keyOf({ version, bits, length }: Block, kind: string): string {
  return `${version} ${length} ${bits.toString(36)} ${kind}`
}
