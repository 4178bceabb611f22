import { countOf, pack } from './packed.ts'

/** A bucket is an exponent and 6 bits of the fraction: values within 1.6 % of each other. */
const SHIFT = 14
const FIRST = 1023 << 6
/** Packed centroids are from 1 to 2^53. */
const BUCKETS = 54 << 6
/** The index of the 32-bit word of a number that holds the exponent: 1 on little-endian machines. */
const HIGH = new Uint32Array(Float64Array.of(1).buffer)[1] === 0 ? 0 : 1

/**
 * Reduces unsorted packed centroids to those near the ranks, sorted. In each gap, one centroid has
 * the total weight of those left out, so percentiles at the ranks stay exact. Sorting all centroids
 * would take most of the time of an overview.
 */
export function nearRanks(packed: Float64Array, ranks: readonly number[]): Float64Array {
  const buckets = bucketsOf(packed)
  const weights = weighBuckets(packed, buckets)
  const isNear = findNear(weights, ranks)
  return fillGaps(pickNear(packed, buckets, isNear).sort(), weights, isNear)
}

// These functions run for millions of centroids: loops take a tenth of the time of callbacks.

function bucketsOf(packed: Float64Array): Uint16Array {
  const words = new Uint32Array(packed.buffer, packed.byteOffset, packed.length * 2)
  const buckets = new Uint16Array(packed.length)
  for (let at = 0; at < buckets.length; at++) {
    buckets[at] = ((words[2 * at + HIGH] ?? 0) >>> SHIFT) - FIRST
  }
  return buckets
}

function pickNear(packed: Float64Array, buckets: Uint16Array, isNear: Uint8Array): Float64Array {
  const near = new Float64Array(packed.length)
  let length = 0
  for (let at = 0; at < packed.length; at++) {
    if (isNear[buckets[at] ?? 0] === 1) near[length++] = packed[at] ?? 0
  }
  return near.slice(0, length)
}

function weighBuckets(packed: Float64Array, buckets: Uint16Array): Float64Array {
  const weights = new Float64Array(BUCKETS)
  for (let at = 0; at < packed.length; at++) {
    const bucket = buckets[at] ?? 0
    weights[bucket] = (weights[bucket] ?? 0) + countOf(packed[at] ?? 0)
  }
  return weights
}

/**
 * Marks the bucket of each rank and both its neighbours, since percentiles are interpolated. Ranks are in
 * ascending order.
 */
function findNear(weights: Float64Array, ranks: readonly number[]): Uint8Array {
  const isNear = new Uint8Array(BUCKETS)
  let end = 0
  let last = 0
  let wasHit = false
  let next = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const weight = weights[bucket] ?? 0
    if (weight === 0) continue
    const start = end
    end += weight
    next = nextRank(ranks, next, start)
    const isHit = (ranks[next] ?? Number.POSITIVE_INFINITY) <= end
    if (isHit) isNear[last] = 1
    if (isHit || wasHit) isNear[bucket] = 1
    wasHit = isHit
    last = bucket
  }
  return isNear
}

/** The index of the first rank from `at` on that is not below `start`. */
function nextRank(ranks: readonly number[], at: number, start: number): number {
  let next = at
  while ((ranks[next] ?? start) < start) next++
  return next
}

/** Adds one centroid for all values between two near buckets. No percentile reads its mean. */
function fillGaps(near: Float64Array, weights: Float64Array, isNear: Uint8Array): Float64Array {
  const all: number[] = []
  const buckets = bucketsOf(near)
  let next = 0
  let gap = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    if (isNear[bucket] === 0) {
      gap += weights[bucket] ?? 0
      continue
    }
    if (gap > 0) all.push(...pack([{ mean: 0, n: gap, mixed: true }]))
    gap = 0
    for (; buckets[next] === bucket; next++) all.push(near[next] ?? 0)
  }
  return Float64Array.from(all)
}
