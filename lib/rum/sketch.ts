import { type FullCentroid, TDigest } from 'tdigest'
import { type Centroid, pack, unpack } from './packed.ts'

/** Up to this many values a sketch is exact. */
const EXACT_VALUES = 512
/** The largest share of all values that one centroid may stand for, near the median. */
const DELTA = 0.01
/** Above so many centroids a sketch is compressed, to about half of them. */
const MAX_CENTROIDS = 1_000

/**
 * The distribution of a metric: exact up to 512 values, a t-digest (arXiv 1902.04023) above. Equal
 * values never lose their number, and what is the same every time goes in gives the same bytes. All
 * values are whole: what they are fractions of is for the caller to know.
 */
export class Sketch {
  /** As numbers: objects would take many times the memory. */
  #packed: Float64Array
  #values: number[] = []
  #n: number

  /** Begins with what `packed` and `n` of another one have told. */
  constructor(packed = new Float64Array(), n = 0) {
    this.#packed = packed
    this.#n = n
  }

  get n(): number {
    return this.#n
  }

  push(value: number): void {
    this.#values.push(value)
    this.#n += 1
    if (this.#values.length > EXACT_VALUES) this.#settle()
  }

  /** In order of their means: at most a thousand, and some hundreds for very many values. */
  centroids(): Centroid[] {
    return unpack(this.packed())
  }

  packed(): Float64Array {
    if (this.#values.length > 0) this.#settle()
    return this.#packed
  }

  #settle(): void {
    const all = mergeSorted(unpack(this.#packed), toCentroids(this.#values))
    this.#values = []
    const isLarge = all.length > MAX_CENTROIDS && this.#n > EXACT_VALUES
    this.#packed = pack(isLarge ? compress(all) : all)
  }
}

function toCentroids(values: readonly number[]): Centroid[] {
  const sorted = Float64Array.from(values).sort()
  const centroids: { mean: number; n: number; mixed: boolean }[] = []
  for (const mean of sorted) {
    const last = centroids.at(-1)
    if (last?.mean === mean) last.n += 1
    else centroids.push({ mean, n: 1, mixed: false })
  }
  return centroids
}

/** One list of two that are in order, equal means joined. */
function mergeSorted(a: readonly Centroid[], b: readonly Centroid[]): Centroid[] {
  if (a.length === 0) return [...b]
  const merged: Centroid[] = []
  let at = 0
  for (const next of b) {
    for (let head = a[at]; head !== undefined && head.mean < next.mean; head = a[at]) {
      merged.push(head)
      at += 1
    }
    const same = a[at]
    if (same?.mean === next.mean) at += 1
    merged.push(same?.mean === next.mean ? join(same, next) : next)
  }
  return merged.concat(a.slice(at))
}

/** Of the same mean: what most of them are decides whether they are one value. */
function join(a: Centroid, b: Centroid): Centroid {
  return { mean: a.mean, n: a.n + b.n, mixed: a.n >= b.n ? a.mixed : b.mixed }
}

function compress(centroids: readonly Centroid[]): Centroid[] {
  const digest = new TieDigest()
  for (const { mean, n, mixed } of shuffled(centroids)) digest.add(mean, n, mixed)
  return digest.list()
}

/** By Fisher and Yates with a generator of a fixed seed: a digest needs its input in no order. */
function shuffled(centroids: readonly Centroid[]): Centroid[] {
  const list = [...centroids]
  let state = 1
  for (let at = list.length - 1; at > 0; at--) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const other = Math.floor((state / 2 ** 32) * (at + 1))
    const [a, b] = [list[at], list[other]]
    if (a === undefined || b === undefined) continue
    list[at] = b
    list[other] = a
  }
  return list
}

declare module 'tdigest' {
  /** What the package has beside its types: its own Digest overrides the same two methods. */
  interface TDigest {
    readonly centroids: { each(visit: (centroid: FullCentroid) => void): void }
    _addweight(nearest: FullCentroid, x: number, n: number): void
    _new_centroid(x: number, n: number, cumn: number): FullCentroid
  }
}

/** Remembers which centroids are of one value. The package has no such thing, and smears ties. */
class TieDigest extends TDigest {
  readonly #mixed = new Set<FullCentroid>()
  #isMixed = false

  constructor() {
    // 0: never compresses by itself, since that is random.
    super(DELTA, 0)
  }

  add(mean: number, n: number, mixed: boolean): void {
    this.#isMixed = mixed
    this.push(mean, n)
  }

  list(): Centroid[] {
    const list: Centroid[] = []
    this.centroids.each((centroid) => {
      const { mean, n } = centroid
      list.push({ mean: Math.round(mean), n, mixed: this.#mixed.has(centroid) })
    })
    return list.reduce<Centroid[]>((joined, centroid) => {
      const last = joined.at(-1)
      if (last?.mean === centroid.mean) joined[joined.length - 1] = join(last, centroid)
      else joined.push(centroid)
      return joined
    }, [])
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
