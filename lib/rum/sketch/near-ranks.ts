import { BUCKETS, Chunk, type Span } from './centroids.ts'
import { pack } from './packed.ts'

/**
 * Reduces the centroids of the spans to those near the ranks, sorted. In each gap, one centroid has the
 * total weight of those left out, so percentiles at the ranks stay exact. Sorting all centroids would take
 * most of the time of an overview.
 */
export function nearRanks(spans: readonly Span[], ranks: readonly number[]): Float64Array {
  const weights = weighBuckets(spans)
  const isNear = findNear(weights, ranks)
  return fillGaps(sortNear(spans, isNear), weights, isNear)
}

// These functions run for millions of centroids: loops take a tenth of the time of callbacks.

function weighBuckets(spans: readonly Span[]): Float64Array {
  const weights = new Float64Array(BUCKETS)
  for (const { chunk, from, to } of spans) {
    const { buckets, counts } = chunk
    for (let at = from; at < to; at++) {
      const bucket = buckets[at] ?? 0
      weights[bucket] = (weights[bucket] ?? 0) + (counts[at] ?? 0)
    }
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

function sortNear(spans: readonly Span[], isNear: Uint8Array): Chunk {
  const near: number[] = []
  for (const { chunk, from, to } of spans) {
    const { buckets, packed } = chunk
    for (let at = from; at < to; at++) {
      if (isNear[buckets[at] ?? 0] === 1) near.push(packed[at] ?? 0)
    }
  }
  return Chunk.of(Float64Array.from(near).sort())
}

/** Adds one centroid for all values between two near buckets. No percentile reads its mean. */
function fillGaps(near: Chunk, weights: Float64Array, isNear: Uint8Array): Float64Array {
  const { packed, buckets } = near
  const all: number[] = []
  let next = 0
  let gap = 0
  for (let bucket = 0; bucket < BUCKETS; bucket++) {
    if (isNear[bucket] === 0) {
      gap += weights[bucket] ?? 0
      continue
    }
    if (gap > 0) all.push(...pack([{ mean: 0, n: gap, mixed: true }]))
    gap = 0
    for (; buckets[next] === bucket; next++) all.push(packed[next] ?? 0)
  }
  return Float64Array.from(all)
}
