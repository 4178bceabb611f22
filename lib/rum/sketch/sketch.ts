import { type FullCentroid, TDigest } from 'tdigest'
import { countOf, isMixed, MAX_N, meanOf, pack, packOne } from './packed.ts'

/** Values are merged once more than this many wait. */
const MERGED_AT_ONCE = 512
/** The largest share of all values in one centroid, near the median. */
const DELTA = 0.01
/** With more distinct values than this, a sketch is compressed to about half as many centroids. */
const MAX_CENTROIDS = 1_000
const EMPTY: readonly number[] = []

/**
 * The distribution of a metric, as whole numbers: exact while there are few distinct values, then a t-digest
 * (arXiv 1902.04023). Equal values that are more than 1 % of all are never merged with others. The
 * same values in the same order always give the same bytes.
 */
export class Sketch {
  #packed: readonly number[]
  /** Values that are not in `#packed` yet, each as a packed centroid. */
  #added: number[] = []
  #n: number

  /** Starts from the centroids of another sketch and the number of its values. */
  constructor(packed = EMPTY, n = 0) {
    this.#packed = packed
    this.#n = n
  }

  get n(): number {
    return this.#n
  }

  push(value: number): void {
    const centroid = packOne(value, 1, false)
    // Most sketches have one value. An array that grows would reserve room for 17.
    if (this.#added.length === 0) this.#added = [centroid]
    else this.#added.push(centroid)
    this.#n += 1
    if (this.#added.length > MERGED_AT_ONCE) this.#merge()
  }

  /** Adds the values of another sketch. */
  add(other: Sketch): void {
    for (const centroid of other.packed()) this.#added.push(centroid)
    this.#n += other.n
    if (this.#added.length > MERGED_AT_ONCE) this.#merge()
  }

  /** At most a thousand packed centroids, in ascending order. */
  packed(): readonly number[] {
    if (this.#added.length > 0) this.#merge()
    return this.#packed
  }

  #merge(): void {
    const joined = joinAll(this.#packed, ascending(this.#added))
    this.#added = []
    this.#packed = joined.length > MAX_CENTROIDS ? compress(joined) : joined
  }
}

/** Returns the numbers in ascending order: those of a single sketch already are. */
function ascending(numbers: readonly number[]): readonly number[] {
  const isAscending = numbers.every((number, at) => at === 0 || number >= (numbers[at - 1] ?? 0))
  return isAscending ? numbers : Array.from(Float64Array.from(numbers).sort())
}

/** Merges centroids in ascending order, and joins those of equal means. */
function joinAll(first: readonly number[], second: readonly number[]): number[] {
  const joined: number[] = []
  let at = 0
  for (const centroid of second) {
    for (let other = first[at]; other !== undefined && other <= centroid; other = first[at]) {
      join(joined, other)
      at += 1
    }
    join(joined, centroid)
  }
  for (; at < first.length; at++) join(joined, first[at] ?? 0)
  return joined
}

/** Joins the centroid to the last one if their means are equal. The larger of them decides whether the sum is mixed. */
function join(joined: number[], next: number): void {
  const last = joined.at(-1) ?? Number.NaN
  const n = countOf(last) + countOf(next)
  if (meanOf(last) === meanOf(next) && n <= MAX_N) {
    const larger = countOf(next) >= countOf(last) ? next : last
    joined[joined.length - 1] = packOne(meanOf(next), n, isMixed(larger))
  } else joined.push(next)
}

function compress(packed: readonly number[]): number[] {
  const digest = new TieDigest()
  for (const centroid of shuffled(packed)) digest.add(centroid)
  return joinAll(digest.packed(), EMPTY)
}

/** A t-digest needs its input in random order. A fixed seed makes the result repeatable (Fisher-Yates). */
function shuffled(packed: readonly number[]): number[] {
  const list = packed.slice()
  let state = 1
  for (let at = list.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const other = Math.floor((state / 2 ** 32) * (at + 1))
    const [a = 0, b = 0] = [list[at], list[other]]
    list[at] = b
    list[other] = a
  }
  return list
}

declare module 'tdigest' {
  /** Methods that the types of the package leave out; its own Digest overrides the same two. */
  interface TDigest {
    readonly centroids: { each(visit: (centroid: FullCentroid) => void): void }
    _addweight(nearest: FullCentroid, x: number, n: number): void
    _new_centroid(x: number, n: number, cumn: number): FullCentroid
  }
}

/** A t-digest that knows which of its centroids are mixed. */
class TieDigest extends TDigest {
  readonly #mixed = new Set<FullCentroid>()
  #isMixed = false

  constructor() {
    // 0: never compresses by itself, because it would do so in a random order.
    super(DELTA, 0)
  }

  add(packed: number): void {
    this.#isMixed = isMixed(packed)
    this.push(meanOf(packed), countOf(packed))
  }

  packed(): readonly number[] {
    const parts: { mean: number; n: number; mixed: boolean }[] = []
    this.centroids.each((centroid) => {
      const { mean, n } = centroid
      parts.push({ mean: Math.round(mean), n, mixed: this.#mixed.has(centroid) })
    })
    return pack(parts)
  }

  override _addweight(nearest: FullCentroid, x: number, n: number): void {
    if (nearest.mean !== x || this.#isMixed) this.#mixed.add(nearest)
    super._addweight(nearest, x, n)
  }

  override _new_centroid(x: number, n: number, cumn: number): FullCentroid {
    const centroid = super._new_centroid(x, n, cumn)
    if (this.#isMixed) this.#mixed.add(centroid)
    return centroid
  }
}
