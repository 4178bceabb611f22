const PART_BYTES = 65_536

/** Collects lines as UTF-8. Each line is encoded at once, while it is in the CPU caches. */
export class LineBuffer {
  #parts: Buffer<ArrayBuffer>[] = []
  #part = Buffer.allocUnsafe(PART_BYTES)
  #length = 0

  /** Adds a line. Returns whether a block of 64 KB is full. */
  add(line: string): boolean {
    // A UTF-16 code unit takes at most three bytes in UTF-8.
    const most = line.length * 3
    if (most > this.#part.length - this.#length) this.#next(Math.max(PART_BYTES, most))
    this.#length += this.#part.write(line, this.#length)
    return this.#parts.length > 0
  }

  /** Returns the collected bytes and empties the buffer. */
  take(): readonly Buffer<ArrayBuffer>[] {
    if (this.#length > 0) this.#next(PART_BYTES)
    const parts = this.#parts
    this.#parts = []
    return parts
  }

  #next(bytes: number): void {
    if (this.#length > 0) this.#parts.push(this.#part.subarray(0, this.#length))
    this.#part = Buffer.allocUnsafe(bytes)
    this.#length = 0
  }
}
