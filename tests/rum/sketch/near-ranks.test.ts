import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Chunk, type Span } from '../../../lib/rum/sketch/centroids.ts'
import { nearRanks } from '../../../lib/rum/sketch/near-ranks.ts'
import { countOf, pack, packOne } from '../../../lib/rum/sketch/packed.ts'
import { percentiles } from '../../../lib/rum/sketch/percentiles.ts'
import { createRandom } from '../../../scripts/parts/random.ts'
import { CONTINUOUS, type Draw, TIED } from '../rum-values.ts'

const SHARES = [0, 0.001, 0.5, 0.75, 0.95, 1]
const SEEDS = 20

/** Unsorted centroids, some of which hold many values. */
function drawPacked(from: Draw, random: () => number): Float64Array {
  const count = 1 + Math.floor(3_000 * random())
  const centroids = Array.from({ length: count }, (_, at) => ({
    mean: from(random, at),
    n: random() < 0.8 ? 1 : 1 + Math.floor(50 * random()),
    mixed: random() < 0.3,
  }))
  return Float64Array.from(pack(centroids))
}

/** Two spans, of which the first is longer. */
function spansOf(packed: Float64Array): Span[] {
  const chunk = Chunk.of(packed)
  const middle = Math.ceil(packed.length * 0.7)
  const spanOf = (from: number, to: number) => {
    const n = packed.subarray(from, to).reduce((sum, centroid) => sum + countOf(centroid), 0)
    return { chunk, from, to, n }
  }
  return [spanOf(0, middle), spanOf(middle, packed.length)]
}

describe('nearRanks', () => {
  for (const [name, from] of Object.entries({ ...CONTINUOUS, ...TIED })) {
    it(`gives the same percentiles as all centroids: ${name}`, () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const packed = drawPacked(from, createRandom(seed))
        const total = packed.reduce((sum, centroid) => sum + countOf(centroid), 0)
        const ranks = SHARES.map((share) => share * total)
        const near = nearRanks(spansOf(packed), ranks)
        const wanted = percentiles(packed.toSorted(), total, SHARES)
        assert.deepEqual(percentiles(near, total, SHARES), wanted)
      }
    })
  }

  it('keeps few of many centroids', () => {
    const random = createRandom(1)
    const values = Array.from({ length: 100_000 }, () => Math.round(1_000_000 * random()))
    const packed = Float64Array.from(values, (mean) => packOne(mean, 1, false))
    assert.ok(nearRanks(spansOf(packed), [75_000]).length < 10_000)
  })
})
