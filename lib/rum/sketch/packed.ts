/** `n` values close to their mean. Unless `mixed`, all of them are equal. */
export interface Centroid {
  /** A whole number. */
  readonly mean: number
  readonly n: number
  readonly mixed: boolean
}

/**
 * A packed centroid is one number, mean * WEIGHTS + weight, so that it sorts by its mean. The weight
 * is the number of values times two, plus one if the centroid is mixed.
 */
const WEIGHTS = 2 ** 27
export const MAX_N = WEIGHTS / 2 - 1

/** A centroid of more than MAX_N values becomes several numbers. */
export function pack(centroids: readonly Centroid[]): number[] {
  const packed: number[] = []
  for (const { mean, n, mixed } of centroids) {
    for (let left = n; left > 0; left -= MAX_N) {
      packed.push(packOne(mean, Math.min(left, MAX_N), mixed))
    }
  }
  return packed
}

export function packOne(mean: number, n: number, mixed: boolean): number {
  return mean * WEIGHTS + n * 2 + (mixed ? 1 : 0)
}

/** Packs a decoded mean and weight. Throws if a number is out of range. */
export function packChecked(mean: number, weight: number): number {
  const packed = mean * WEIGHTS + weight
  if (weight < 2 || weight >= WEIGHTS || packed > Number.MAX_SAFE_INTEGER) {
    throw new Error('Cannot read a sketch: a number is out of range')
  }
  return packed
}

// An overview reads millions of centroids, so these functions create no objects.

export function meanOf(packed: number): number {
  return Math.floor(packed / WEIGHTS)
}

export function weightOf(packed: number): number {
  return packed - meanOf(packed) * WEIGHTS
}

export function countOf(packed: number): number {
  return weightOf(packed) >>> 1
}

export function isMixed(packed: number): boolean {
  return (weightOf(packed) & 1) === 1
}
