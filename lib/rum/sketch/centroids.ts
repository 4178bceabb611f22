import { countOf, packChecked } from './packed.ts'
import type { VarintReader } from './varint.ts'

/** The values of a bucket share the exponent and 6 bits of the fraction: they differ by at most 1.6 %. */
const SHIFT = 14
const FIRST = 1023 << 6
/** Packed centroids are from 1 to 2^53. */
export const BUCKETS = 54 << 6
/** Which of the two 32-bit words of a number holds the exponent: 1 on little-endian machines. */
const HIGH = new Uint32Array(Float64Array.of(1).buffer)[1] === 0 ? 0 : 1

/** Packed centroids, with the counts and buckets that readers would otherwise compute again and again. */
export class Chunk {
  readonly packed: Float64Array
  readonly counts: Uint32Array
  readonly buckets: Uint16Array
  readonly #words: Uint32Array

  constructor(size: number) {
    this.packed = new Float64Array(size)
    this.counts = new Uint32Array(size)
    this.buckets = new Uint16Array(size)
    this.#words = new Uint32Array(this.packed.buffer)
  }

  static of(packed: Float64Array): Chunk {
    const chunk = new Chunk(packed.length)
    for (const [at, centroid] of packed.entries()) chunk.set(at, centroid, countOf(centroid))
    return chunk
  }

  set(at: number, packed: number, count: number): void {
    this.packed[at] = packed
    this.counts[at] = count
    this.buckets[at] = ((this.#words[2 * at + HIGH] ?? 0) >>> SHIFT) - FIRST
  }
}

/** The centroids of one sketch: those of the chunk from `from` to before `to`. */
export interface Span {
  readonly chunk: Chunk
  readonly from: number
  readonly to: number
  /** The number of their values. */
  readonly n: number
}

/** About a megabyte. */
const CHUNK_SIZE = 1 << 16

/** The centroids of many sketches. Groups of sketches share them instead of copying them. */
export class Centroids {
  #chunk = new Chunk(0)
  #end = 0

  /** Reads the centroids of a sketch. Throws if the bytes are damaged. */
  read(reader: VarintReader, length: number): Span {
    if (this.#end + length > this.#chunk.packed.length) {
      this.#chunk = new Chunk(Math.max(CHUNK_SIZE, length))
      this.#end = 0
    }
    const [chunk, from] = [this.#chunk, this.#end]
    const to = from + length
    let mean = 0
    let n = 0
    for (let at = from; at < to; at++) {
      mean += reader.read()
      const weight = reader.read()
      const count = weight >>> 1
      chunk.set(at, packChecked(mean, weight), count)
      n += count
    }
    this.#end = to
    return { chunk, from, to, n }
  }
}
