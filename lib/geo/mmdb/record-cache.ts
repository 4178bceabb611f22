/**
 * A direct-mapped cache of values by the offset of their record in the file. Each offset has one
 * slot. A value is kept when its record is offered to the slot twice in a row: most records are
 * looked up once, and keeping those would only burden the garbage collector.
 */
export class RecordCache<Value extends NonNullable<unknown>> {
  readonly #shift: number
  readonly #offsets: Uint32Array
  readonly #values: (Value | undefined)[]

  /** Has 2^bits slots. */
  constructor(bits: number) {
    this.#shift = 32 - bits
    this.#offsets = new Uint32Array(2 ** bits)
    this.#values = new Array(2 ** bits).fill(undefined)
  }

  get(offset: number): Value | undefined {
    const slot = this.#slotOf(offset)
    return this.#offsets[slot] === offset ? this.#values[slot] : undefined
  }

  /** Offers the value of an offset for which `get` found nothing. Returns whether it is kept. */
  offer(offset: number, value: Value): boolean {
    const slot = this.#slotOf(offset)
    const again = this.#offsets[slot] === offset
    this.#offsets[slot] = offset
    this.#values[slot] = again ? value : undefined
    return again
  }

  /** Fibonacci hashing spreads neighbouring offsets. */
  #slotOf(offset: number): number {
    return Math.imul(offset, 0x9e3779b1) >>> this.#shift
  }
}
