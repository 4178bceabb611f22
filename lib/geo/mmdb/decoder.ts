import { RecordCache } from './record-cache.ts'

/**
 * The cost limit of one record: each value costs 1; a map or array also costs its size, a text a 16th of it. In a
 * damaged file, circular pointers and arrays of millions end in an error instead of a hang.
 */
const RECORD_BUDGET = 65_536
const BYTES_PER_UNIT = 16

/** Caches 16,384 decoded values behind pointers: most records share them. */
const CACHE_BITS = 14

/** There are few keys: a small cache of their own fits the processor's level-1 cache. */
const KEY_CACHE_BITS = 7

const POINTER = 1
const TEXT = 2
const DOUBLE = 3
const BYTES = 4
const UINT16 = 5
const UINT32 = 6
const MAP = 7
const INT32 = 8
const UINT64 = 9
const UINT128 = 10
const ARRAY = 11
const BOOLEAN = 14
const FLOAT = 15

/** Added to a pointer's value, by its size field. */
const POINTER_START = [0, 2048, 526_336, 0]

export interface DecodedMap {
  readonly [key: string]: Decoded
}
export type Decoded = string | number | bigint | boolean | Buffer | DecodedMap | readonly Decoded[]

interface DecoderOptions {
  /** The cache has 2^cacheBits slots. */
  readonly cacheBits?: number
  /** Which names of a map called `names` to read; by default one, as a text. */
  readonly names?: 'one' | 'all'
}

/** An assignment would change the prototype. */
function addOwn(map: Record<string, Decoded>, key: string, value: Decoded): void {
  Object.defineProperty(map, key, { value, enumerable: true, writable: true, configurable: true })
}

/**
 * Decodes the data section of a MaxMind DB, format 2.0. By default it differs from the specification
 * in one point: a map called `names`, with one name per language, is read as a single text, the English
 * name or else the first. Decoding the other seven names would take most of the time.
 */
export class MmdbDecoder {
  readonly #bytes: Buffer
  readonly #base: number
  readonly #shared: RecordCache<Decoded>
  readonly #hasAllNames: boolean
  readonly #keys = new RecordCache<string>(KEY_CACHE_BITS)
  #at = 0
  #budget = 0

  /** Pointers count from `base`. */
  constructor(bytes: Buffer, base: number, options: DecoderOptions = {}) {
    const { cacheBits = CACHE_BITS, names = 'one' } = options
    this.#bytes = bytes
    this.#base = base
    this.#shared = new RecordCache(cacheBits)
    this.#hasAllNames = names === 'all'
  }

  /** Returns the value at `offset` of the file, which is shared: never change it. Throws on bad data. */
  decode(offset: number): Decoded {
    this.#at = offset
    this.#budget = RECORD_BUDGET
    try {
      return this.#value()
    } catch (error) {
      // The stack overflows before the budget is used up.
      if (error instanceof RangeError) throw this.#damaged('its values refer to each other')
      throw error
    }
  }

  #value(): Decoded {
    const control = this.#byte()
    if (control >> 5 === POINTER) return this.#valueAt(this.#target(control))
    const type = this.#type(control)
    const size = this.#size(control & 31)
    this.#spend(1)
    return type === MAP ? this.#map(size) : this.#scalarOrArray(type, size)
  }

  #scalarOrArray(type: number, size: number): Decoded {
    switch (type) {
      case TEXT:
        return this.#text(size)
      case DOUBLE:
        return this.#bytes.readDoubleBE(this.#advance(8))
      case FLOAT:
        return this.#bytes.readFloatBE(this.#advance(4))
      case BOOLEAN:
        return size !== 0
      case ARRAY:
        return this.#array(size)
      case BYTES:
        this.#spend(size / BYTES_PER_UNIT)
        return this.#bytes.subarray(this.#advance(size), this.#at)
      default:
        return this.#integer(type, size)
    }
  }

  #map(size: number): DecodedMap {
    this.#spend(size)
    const map: Record<string, Decoded> = {}
    for (let entry = 0; entry < size; entry++) {
      const key = this.#key()
      const value = key === 'names' && !this.#hasAllNames ? this.#name() : this.#value()
      if (key === '__proto__') addOwn(map, key, value)
      else map[key] = value
    }
    return map
  }

  /** Reads one name from the map of languages that starts here. */
  #name(): Decoded {
    const control = this.#byte()
    if (control >> 5 === POINTER) return this.#readAt(this.#target(control), () => this.#name())
    const type = this.#type(control)
    const size = this.#size(control & 31)
    if (type !== MAP) return this.#scalarOrArray(type, size)
    this.#spend(size)
    let name: Decoded = ''
    for (let entry = 0; entry < size; entry++) {
      if (this.#key() === 'en' || name === '') name = this.#value()
      else this.#skip()
    }
    return name
  }

  #array(size: number): Decoded[] {
    this.#spend(size)
    const array: Decoded[] = []
    for (let entry = 0; entry < size; entry++) array.push(this.#value())
    return array
  }

  #key(): string {
    const control = this.#byte()
    if (control >> 5 !== POINTER) return this.#keyText(control)
    const target = this.#target(control)
    const known = this.#keys.get(target)
    if (known !== undefined) return known
    const key = this.#readAt(target, () => this.#keyText(this.#byte()))
    this.#keys.offer(target, key)
    return key
  }

  #keyText(control: number): string {
    if (control >> 5 !== TEXT) throw this.#damaged('a map key is not a text')
    return this.#text(this.#size(control & 31))
  }

  #text(size: number): string {
    this.#spend(size / BYTES_PER_UNIT)
    const start = this.#advance(size)
    return this.#bytes.toString('utf8', start, this.#at)
  }

  #integer(type: number, size: number): number | bigint {
    if (
      type !== UINT16 &&
      type !== UINT32 &&
      type !== INT32 &&
      type !== UINT64 &&
      type !== UINT128
    ) {
      throw this.#damaged(`unknown type ${type}`)
    }
    if (size > 16) throw this.#damaged(`an integer of ${size} bytes`)
    const end = this.#advance(size) + size
    if (size > 6) return BigInt(`0x${this.#bytes.toString('hex', end - size, end)}`)
    let value = 0
    for (let at = end - size; at < end; at++) value = value * 256 + (this.#bytes[at] ?? 0)
    return type === INT32 ? value | 0 : value
  }

  /** Moves past the value that starts here. */
  #skip(): void {
    const control = this.#byte()
    if (control >> 5 === POINTER) {
      this.#target(control)
      return
    }
    const type = this.#type(control)
    const size = this.#size(control & 31)
    if (type === TEXT) this.#advance(size)
    else if (type === MAP) this.#map(size)
    else this.#scalarOrArray(type, size)
  }

  #valueAt(target: number): Decoded {
    const known = this.#shared.get(target)
    if (known !== undefined) return known
    const value = this.#readAt(target, () => this.#value())
    this.#shared.offer(target, value)
    return value
  }

  /** Reads at `target`, then returns to the current position. */
  #readAt<Value>(target: number, read: () => Value): Value {
    const back = this.#at
    this.#spend(1)
    this.#at = target
    const value = read()
    this.#at = back
    return value
  }

  #target(control: number): number {
    const size = (control >> 3) & 3
    let value = size === 3 ? 0 : control & 7
    for (let left = size + 1; left > 0; left--) value = value * 256 + this.#byte()
    return this.#base + value + (POINTER_START[size] ?? 0)
  }

  #type(control: number): number {
    return control >> 5 || this.#byte() + 7
  }

  #size(short: number): number {
    if (short < 29) return short
    if (short === 29) return 29 + this.#byte()
    if (short === 30) return 285 + this.#byte() * 256 + this.#byte()
    return 65_821 + this.#byte() * 65_536 + this.#byte() * 256 + this.#byte()
  }

  #byte(): number {
    const byte = this.#bytes[this.#at++]
    if (byte === undefined) throw this.#damaged('the file ends')
    return byte
  }

  /** Returns the start of the next `size` bytes and moves past them. */
  #advance(size: number): number {
    const start = this.#at
    this.#at += size
    if (this.#at > this.#bytes.length) throw this.#damaged('the file ends')
    return start
  }

  #spend(units: number): void {
    this.#budget -= units
    if (this.#budget < 0) throw this.#damaged('the record is too large')
  }

  #damaged(reason: string): Error {
    return new Error(`Cannot decode the data at byte ${this.#at}: ${reason}`)
  }
}
