/** Values that are near each other, taken as one; those of one value where it is not `mixed`. */
export interface Centroid {
  readonly mean: number
  readonly n: number
  readonly mixed: boolean
}

/** A centroid in one number: mean, then weight, then whether it is mixed. Sorts by the mean. */
const WEIGHTS = 2 ** 27
const MAX_N = WEIGHTS / 2 - 1

/** Several numbers for a centroid that stands for very many values. */
export function pack(centroids: readonly Centroid[]): Float64Array {
  const packed: number[] = []
  for (const { mean, n, mixed } of centroids) {
    for (let left = n; left > 0; left -= MAX_N) {
      packed.push(mean * WEIGHTS + Math.min(left, MAX_N) * 2 + (mixed ? 1 : 0))
    }
  }
  return Float64Array.from(packed)
}

/** A packed centroid in two numbers. The second is the weight with a bit for `mixed`. */
export function splitPacked(packed: number): readonly [mean: number, weight: number] {
  return [meanOf(packed), weightOf(packed)]
}

/** Throws where a number is none that `splitPacked` gives. */
export function joinPacked(mean: number, weight: number): number {
  const packed = mean * WEIGHTS + weight
  if (weight < 2 || weight >= WEIGHTS || packed > Number.MAX_SAFE_INTEGER) {
    throw new Error('Cannot read a sketch: a number is out of range')
  }
  return packed
}

export function unpack(packed: Float64Array): Centroid[] {
  return Array.from(packed, unpackOne)
}

function unpackOne(packed: number): Centroid {
  return { mean: meanOf(packed), n: countOf(packed), mixed: isMixed(packed) }
}

/** These make no object: an overview reads millions of centroids. */
export function meanOf(packed: number): number {
  return Math.floor(packed / WEIGHTS)
}

export function countOf(packed: number): number {
  return weightOf(packed) >>> 1
}

export function isMixed(packed: number): boolean {
  return (weightOf(packed) & 1) === 1
}

function weightOf(packed: number): number {
  return packed - meanOf(packed) * WEIGHTS
}
