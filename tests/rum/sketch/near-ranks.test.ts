import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nearRanks } from '../../../lib/rum/near-ranks.ts'
import { pack, unpack } from '../../../lib/rum/packed.ts'
import { percentiles } from '../../../lib/rum/percentiles.ts'
import { createRandom } from '../../../scripts/random.ts'
import { CONTINUOUS, type Draw, TIED } from '../../rum-values.ts'

const SHARES = [0, 0.001, 0.5, 0.75, 0.95, 1]
const SEEDS = 20

/** Centroids in no order, of which some stand for many values. */
function drawPacked(from: Draw, random: () => number): Float64Array {
  const count = 1 + Math.floor(3_000 * random())
  const centroids = Array.from({ length: count }, (_, at) => ({
    mean: from(random, at),
    n: random() < 0.8 ? 1 : 1 + Math.floor(50 * random()),
    mixed: random() < 0.3,
  }))
  return pack(centroids)
}

describe('the centroids near some ranks', () => {
  for (const [name, from] of Object.entries({ ...CONTINUOUS, ...TIED })) {
    it(`tell the same percentiles as all: ${name}`, () => {
      for (let seed = 1; seed <= SEEDS; seed++) {
        const packed = drawPacked(from, createRandom(seed))
        const total = unpack(packed).reduce((sum, { n }) => sum + n, 0)
        const near = nearRanks(
          packed,
          SHARES.map((share) => share * total),
        )
        const wanted = percentiles(packed.toSorted(), total, SHARES)
        assert.deepEqual(percentiles(near, total, SHARES), wanted)
      }
    })
  }

  it('are few of many', () => {
    const random = createRandom(1)
    const values = Array.from({ length: 100_000 }, () => Math.round(1_000_000 * random()))
    const packed = pack(values.map((mean) => ({ mean, n: 1, mixed: false })))
    assert.ok(nearRanks(packed, [75_000]).length < 10_000)
  })
})
