/**
 * A direct-mapped cache of values by the offset of their record in the file. Each offset has one
 * slot. A value is kept when its record is offered to the slot twice in a row: most records are
 * looked up once, and keeping those would only burden the garbage collector.
 */
export class RecordCache<Value extends NonNullable<unknown>> {
  readonly #bits: number
  readonly #shift: number
  /** Empty until the first offer: behind an atlas, many caches are never used. */
  #offsets = new Uint32Array()
  #values: (Value | undefined)[] = []

  /** Has 2^bits slots. */
  constructor(bits: number) {
    this.#bits = bits
    this.#shift = 32 - bits
  }

  get(offset: number): Value | undefined {
    const slot = this.#slotOf(offset)
    return this.#offsets[slot] === offset ? this.#values[slot] : undefined
  }

  /** Offers the value of an offset for which `get` found nothing. Returns whether it is kept. */
  offer(offset: number, value: Value): boolean {
    if (this.#values.length === 0) this.#allocate()
    const slot = this.#slotOf(offset)
    const again = this.#offsets[slot] === offset
    this.#offsets[slot] = offset
    this.#values[slot] = again ? value : undefined
    return again
  }

  #allocate(): void {
    this.#offsets = new Uint32Array(2 ** this.#bits)
    this.#values = new Array(2 ** this.#bits).fill(undefined)
  }

  /** Fibonacci hashing spreads neighbouring offsets. */
  #slotOf(offset: number): number {
    return Math.imul(offset, 0x9e3779b1) >>> this.#shift
  }
}
