const PART_BYTES = 65_536

/** Gathers text as UTF-8, encoded as it comes: while it is still in the processor's caches. */
export class LineBuffer {
  #parts: Buffer[] = []
  #part = Buffer.allocUnsafe(PART_BYTES)
  #length = 0

  /** Says whether a part of 64 KB is full. */
  add(line: string): boolean {
    // A UTF-16 unit takes three bytes of UTF-8 at most.
    const most = line.length * 3
    if (most > this.#part.length - this.#length) this.#next(Math.max(PART_BYTES, most))
    this.#length += this.#part.write(line, this.#length)
    return this.#parts.length > 0
  }

  /** Hands over what was gathered. */
  take(): readonly Buffer[] {
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
