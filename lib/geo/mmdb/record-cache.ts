/**
 * Keeps what was made of records, by their offset in the file, or of addresses: a direct-mapped
 * cache, as processors have them. Each offset has one slot, and the last two that came there decide:
 * a value is kept when its record comes for the second time in a row, since most records of wide
 * traffic come once, and keeping those would only cost the garbage collector.
 */
export class RecordCache<Value extends NonNullable<unknown>> {
  readonly #shift: number
  readonly #offsets: Uint32Array
  readonly #values: (Value | undefined)[]

  /** Has 2^bits slots. */
  constructor(bits: number) {
    this.#shift = 32 - bits
    this.#offsets = new Uint32Array(2 ** bits)
    this.#values = Array.from({ length: 2 ** bits }, () => undefined)
  }

  get(offset: number): Value | undefined {
    const slot = this.#slotOf(offset)
    return this.#offsets[slot] === offset ? this.#values[slot] : undefined
  }

  /** Offers the value of an offset that `get` did not know. Returns whether it is kept. */
  offer(offset: number, value: Value): boolean {
    const slot = this.#slotOf(offset)
    const again = this.#offsets[slot] === offset
    this.#offsets[slot] = offset
    this.#values[slot] = again ? value : undefined
    return again
  }

  /** Fibonacci hashing: neighbouring offsets fall far apart. */
  #slotOf(offset: number): number {
    return Math.imul(offset, 0x9e3779b1) >>> this.#shift
  }
}
