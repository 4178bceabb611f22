import assert from 'node:assert/strict'
import { Centroids } from '../../lib/rum/sketch/centroids.ts'
import { newMeasure } from '../../lib/rum/sketch/measures.ts'
import { addCentroids, encodeMeasures } from '../../lib/rum/sketch/measures-blob.ts'
import { Pool } from '../../lib/rum/sketch/pool.ts'
import { Sketch } from '../../lib/rum/sketch/sketch.ts'
import { createRandom } from '../../scripts/parts/random.ts'

/** Draws whole values as in sketches: hundredths of a millisecond, or CLS times 100,000. */
export type Draw = (random: () => number, at: number) => number

const PERCENTILE_SHARES = [0.5, 0.75, 0.95]

function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
}

export function lognormal(median: number, sigma: number): Draw {
  return (random) => Math.round(median * Math.exp(sigma * normal(random)))
}

const fast = lognormal(20_000, 0.3)
const slow = lognormal(250_000, 0.4)

/** Distributions like those of real pages. */
export const CONTINUOUS: Readonly<Record<string, Draw>> = {
  lognormal: lognormal(180_000, 0.6),
  bimodal: (random, at) => (random() < 0.6 ? fast : slow)(random, at),
  'heavy-tailed': (random) => Math.min(60_000_000, Math.round(50_000 / (1 - random()) ** 0.67)),
  ascending: (_, at) => 1_000 + at * 3,
  descending: (_, at) => 10_000_000 - at * 3,
  uniform: (random) => Math.round(100_000 + 400_000 * random()),
}

/** Distributions with many equal values. */
export const TIED: Readonly<Record<string, Draw>> = {
  constant: () => 5,
  'two-valued': (random) => (random() < 0.76 ? 0 : 30_000),
  'steps of 8 ms': (random) => 800 * Math.round(12 * Math.exp(0.8 * normal(random))),
  'CLS with zeros': (random) =>
    random() < 0.55 ? 0 : Math.round(6_000 * Math.exp(normal(random))),
}

export function draw(from: Draw, n: number, seed = 1): number[] {
  const random = createRandom(seed)
  return Array.from({ length: n }, (_, at) => from(random, at))
}

export function sketchOf(values: readonly number[]): Sketch {
  const sketch = new Sketch()
  for (const value of values) sketch.push(value)
  return sketch
}

/** The percentiles of several sketches taken together. */
export function estimates(...sketches: readonly Sketch[]): number[] {
  const pool = new Pool()
  const centroids = new Centroids()
  for (const sketch of sketches) {
    const { lcp } = addCentroids(centroids, encodeMeasures({ lcp: newMeasure(sketch) }))
    assert.ok(lcp)
    pool.add(lcp)
  }
  return pool.percentiles(PERCENTILE_SHARES)
}

/** The exact percentiles of all values, after Hazen. */
export function exact(values: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort()
  const at = (index: number) => sorted[Math.max(0, Math.min(sorted.length - 1, index))] ?? 0
  return PERCENTILE_SHARES.map((share) => {
    const rank = sorted.length * share - 0.5
    const below = Math.floor(rank)
    return at(below) + (rank - below) * (at(below + 1) - at(below))
  })
}

export function assertNear(actual: readonly number[], wanted: readonly number[], name: string) {
  const bounds = [0.01, 0.01, 0.02]
  for (const [at, value] of actual.entries()) {
    const expected = wanted[at] ?? Number.NaN
    const error = Math.abs(value - expected) / (expected || 1)
    assert.ok(
      error <= (bounds[at] ?? 0),
      `${name} p${PERCENTILE_SHARES[at]}: ${value}, not ${expected}`,
    )
  }
}

export type Rating = 'good' | 'needs improvement' | 'poor'

export function rating(value: number, good: number, poor: number): Rating {
  if (value <= good) return 'good'
  return value <= poor ? 'needs improvement' : 'poor'
}
