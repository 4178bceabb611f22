import { countOf, pack } from './packed.ts'

/** Centroids are put into buckets by exponent and 6 bits of the fraction: 1.6 % of a value each. */
const SHIFT = 14
const FIRST = 1023 << 6
/** Packed centroids are from 1 to 2^53. */
const BUCKETS = 54 << 6
/** Of the two words of a number, the one with the exponent. */
const HIGH = new Uint32Array(Float64Array.of(1).buffer)[1] === 0 ? 0 : 1

/**
 * Of packed centroids in no order, those that decide about the values at the ranks, in order, and in
 * place of all between them one of their weight: to sort those would take most of an overview.
 */
export function nearRanks(packed: Float64Array, ranks: readonly number[]): Float64Array {
  const buckets = bucketsOf(packed)
  const weights = weighBuckets(packed, buckets)
  const isNear = findNear(weights, ranks)
  const near = packed.filter((_, at) => isNear[buckets[at] ?? 0] === 1).sort()
  return withFar(near, weights, isNear)
}

function bucketsOf(packed: Float64Array): Uint16Array {
  const words = new Uint32Array(packed.buffer, packed.byteOffset, packed.length * 2)
  const buckets = new Uint16Array(packed.length)
  for (let at = 0; at < buckets.length; at++) {
    buckets[at] = ((words[2 * at + HIGH] ?? 0) >>> SHIFT) - FIRST
  }
  return buckets
}

function weighBuckets(packed: Float64Array, buckets: Uint16Array): Float64Array {
  const weights = new Float64Array(BUCKETS)
  for (let at = 0; at < packed.length; at++) {
    const bucket = buckets[at] ?? 0
    weights[bucket] = (weights[bucket] ?? 0) + countOf(packed[at] ?? 0)
  }
  return weights
}

/** 1 for the bucket of each rank, and those before and after it: values are interpolated. */
function findNear(weights: Float64Array, ranks: readonly number[]): Uint8Array {
  const isNear = new Uint8Array(BUCKETS)
  let end = 0
  let last = 0
  let wasHit = false
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    const weight = weights[bucket] ?? 0
    if (weight === 0) continue
    const start = end
    end += weight
    const isHit = ranks.some((rank) => rank >= start && rank <= end)
    if (isHit) isNear[last] = 1
    if (isHit || wasHit) isNear[bucket] = 1
    wasHit = isHit
    last = bucket
  }
  return isNear
}

/** What is near comes bucket by bucket; before each of them, what is far as one centroid. */
function withFar(near: Float64Array, weights: Float64Array, isNear: Uint8Array): Float64Array {
  const all: number[] = []
  const buckets = bucketsOf(near)
  let next = 0
  let far = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    if (isNear[bucket] === 0) {
      far += weights[bucket] ?? 0
      continue
    }
    all.push(...pack([{ mean: 0, n: far, mixed: true }]))
    far = 0
    for (; buckets[next] === bucket; next++) all.push(near[next] ?? 0)
  }
  return Float64Array.from(all)
}
