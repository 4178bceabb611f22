import { formatIpv6, ipv4FromBits } from '../../parts/net/address.ts'
import type { Network } from '../../parts/net/network.ts'

const FIRST_SIZE = 4_096
const ROWS_PER_STEP = 4_096
const DIGIT_BITS = 16

/** The prefixes of one IP version by autonomous system, in columns: half a million take 6 to 10 MB. */
export type Prefixes = ReturnType<typeof openPrefixes>

/** Networks that are made when they are read. */
export interface NetworkList {
  readonly length: number
  at(n: number): Network
}

/** Collects prefixes in the order of their addresses. */
export class PrefixCollector {
  readonly #wordsPerRow: 1 | 4
  #words: Uint32Array
  #bits = new Uint8Array(FIRST_SIZE)
  #asns = new Uint32Array(FIRST_SIZE)
  #count = 0

  constructor(version: 4 | 6) {
    this.#wordsPerRow = version === 4 ? 1 : 4
    this.#words = new Uint32Array(FIRST_SIZE * this.#wordsPerRow)
  }

  /** Adds the prefix, and joins the halves of a prefix that have the same system. */
  add(words: Uint32Array, bits: number, asn: number): void {
    let length = bits
    let row = this.#count
    while (row > 0 && this.#isOtherHalf(row - 1, words, length, asn)) {
      row -= 1
      length -= 1
    }
    if (row === this.#bits.length) this.#grow()
    // The first half has the address of the whole.
    if (row === this.#count) this.#words.set(words, row * this.#wordsPerRow)
    this.#bits[row] = length
    this.#asns[row] = asn
    this.#count = row + 1
  }

  /** Sorts the prefixes by system. Yields often, so that callers can pause. */
  *finish(): Generator<void, Prefixes> {
    const count = this.#count
    const asns = this.#asns.subarray(0, count)
    const byLowDigit = yield* sortByDigit(asns, 0, (at) => at)
    const order = yield* sortByDigit(asns, DIGIT_BITS, (at) => byLowDigit[at] ?? 0)
    const words = this.#words.slice(0, count * this.#wordsPerRow)
    yield
    return openPrefixes({ words, bits: this.#bits.slice(0, count), order, asns: asns.slice() })
  }

  #isOtherHalf(row: number, words: Uint32Array, bits: number, asn: number): boolean {
    if (this.#bits[row] !== bits || this.#asns[row] !== asn || bits === 0) return false
    const last = bits - 1
    for (let at = 0; at < this.#wordsPerRow; at++) {
      const differing = (this.#words[row * this.#wordsPerRow + at] ?? 0) ^ (words[at] ?? 0)
      if (differing !== (at === last >>> 5 ? 1 << (31 - (last & 31)) : 0)) return false
    }
    return true
  }

  #grow(): void {
    const [words, bits, asns] = [this.#words, this.#bits, this.#asns]
    this.#words = new Uint32Array(words.length * 2)
    this.#words.set(words)
    this.#bits = new Uint8Array(bits.length * 2)
    this.#bits.set(bits)
    this.#asns = new Uint32Array(asns.length * 2)
    this.#asns.set(asns)
  }
}

/** One pass of a radix sort over all rows, which keeps the order of rows with the same digit. */
function* sortByDigit(
  keys: Uint32Array,
  shift: number,
  rowAt: (at: number) => number,
): Generator<void, Uint32Array> {
  const digitOf = (row: number) => ((keys[row] ?? 0) >>> shift) & 0xffff
  const starts = yield* countDigits(keys.length, digitOf)
  const sorted = new Uint32Array(keys.length)
  for (let at = 0; at < keys.length; at++) {
    if (at % ROWS_PER_STEP === 0) yield
    const row = rowAt(at)
    const digit = digitOf(row)
    const place = starts[digit] ?? 0
    starts[digit] = place + 1
    sorted[place] = row
  }
  return sorted
}

/** How many rows have a lower digit, for each digit. */
function* countDigits(
  rows: number,
  digitOf: (row: number) => number,
): Generator<void, Uint32Array> {
  const counts = new Uint32Array(2 ** DIGIT_BITS)
  for (let row = 0; row < rows; row++) {
    if (row % ROWS_PER_STEP === 0) yield
    const digit = digitOf(row)
    counts[digit] = (counts[digit] ?? 0) + 1
  }
  let before = 0
  return counts.map((count) => {
    before += count
    return before - count
  })
}

interface Columns {
  /** One word for each IPv4 prefix, four for each IPv6 prefix. */
  readonly words: Uint32Array
  readonly bits: Uint8Array
  readonly asns: Uint32Array
  /** The rows by system, then by address. */
  readonly order: Uint32Array
}

function openPrefixes({ words, bits, asns, order }: Columns) {
  const isIpv4 = words.length === bits.length
  const network = (row: number): Network => {
    const prefix = bits[row] ?? 0
    if (isIpv4) return { address: ipv4FromBits(words[row] ?? 0), prefix }
    const [a = 0, b = 0, c = 0, d = 0] = words.subarray(row * 4, row * 4 + 4)
    const parts = [a, b, c, d] as const
    return { address: { version: 6, text: formatIpv6(parts), words: parts }, prefix }
  }
  /** How many rows have a system with a lower number. */
  const before = (asn: number): number => {
    let [first, last] = [0, order.length]
    while (first < last) {
      const middle = (first + last) >>> 1
      if ((asns[order[middle] ?? 0] ?? 0) < asn) first = middle + 1
      else last = middle
    }
    return first
  }
  return {
    /** The prefixes of the system, by address. */
    of: (asn: number): NetworkList => {
      const first = before(asn)
      return { length: before(asn + 1) - first, at: (n) => network(order[first + n] ?? 0) }
    },
  }
}
