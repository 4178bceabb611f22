/**
 * A map that drops entries which were not read recently. It keeps two generations: when the young one
 * is full, it replaces the old one, whose entries are lost unless they were read again. (Deleting
 * the oldest entry of a Map at each insertion costs microseconds, since V8 walks over the holes.)
 */
export class BoundedCache<Key, Value extends NonNullable<unknown> | null> {
  readonly #generationSize: number
  #young = new Map<Key, Value>()
  #old = new Map<Key, Value>()

  /** Holds at most `limit` entries, and always the latest `limit / 2`. */
  constructor(limit: number) {
    this.#generationSize = Math.max(1, Math.floor(limit / 2))
  }

  get(key: Key): Value | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: Key, value: Value): void {
    if (this.#young.size >= this.#generationSize) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
  }

  delete(key: Key): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }
}
