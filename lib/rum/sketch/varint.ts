/** Whole numbers from 0 to 2^53 - 1 as LEB128: seven bits in each byte, the lowest first. */

const MORE = 0x80
const BITS = 0x7f

export class ByteWriter {
  #bytes = Buffer.allocUnsafe(256)
  #length = 0

  write(value: number): void {
    // Not by shifts, which end at 31 bits.
    let rest = value
    while (rest > BITS) {
      this.#append((rest % MORE) + MORE)
      rest = Math.floor(rest / MORE)
    }
    this.#append(rest)
  }

  bytes(): Buffer {
    return Buffer.from(this.#bytes.subarray(0, this.#length))
  }

  #append(byte: number): void {
    if (this.#length === this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.allocUnsafe(this.#length)])
    }
    this.#bytes[this.#length] = byte
    this.#length += 1
  }
}

export class ByteReader {
  readonly #bytes: Uint8Array
  #at = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** How many bytes are not read yet. */
  get left(): number {
    return this.#bytes.length - this.#at
  }

  read(): number {
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
