/** Whole numbers from 0 to 2^53 - 1 as LEB128: seven bits in each byte, the lowest first. */

const MORE = 0x80
const BITS = 0x7f

export function writeVarint(bytes: number[], value: number): void {
  // Divides, because bit shifts cut a number to 32 bits.
  let rest = value
  for (; rest > BITS; rest = Math.floor(rest / MORE)) bytes.push((rest % MORE) + MORE)
  bytes.push(rest)
}

export class VarintReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** The number of unread bytes. */
  get left(): number {
    return this.#bytes.length - this.#at
  }

  read(): number {
    const byte = this.#bytes[this.#at]
    // Most numbers have one byte.
    if (byte === undefined || byte >= MORE) return this.#readLong()
    this.#at += 1
    return byte
  }

  #readLong(): number {
    let value = 0
    for (let factor = 1; ; factor *= MORE) {
      const byte = this.#bytes[this.#at]
      if (byte === undefined || factor > Number.MAX_SAFE_INTEGER) {
        throw new Error('Cannot read a number: the bytes are damaged')
      }
      this.#at += 1
      value += (byte & BITS) * factor
      if (byte < MORE) return value
    }
  }
}
