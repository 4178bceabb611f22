import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { METRICS, VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import { Chunk, type Span } from '../../../lib/rum/sketch/centroids.ts'
import {
  addMeasures,
  addValues,
  type Measures,
  percentilesOf,
  type Values,
} from '../../../lib/rum/sketch/measures.ts'
import { decodeMeasures, encodeMeasures } from '../../../lib/rum/sketch/measures-blob.ts'
import { nearRanks } from '../../../lib/rum/sketch/near-ranks.ts'
import { countOf, meanOf, pack, packOne } from '../../../lib/rum/sketch/packed.ts'
import { percentiles } from '../../../lib/rum/sketch/percentiles.ts'
import { Sketch } from '../../../lib/rum/sketch/sketch.ts'
import { createRandom } from '../../../scripts/parts/random.ts'
import {
  assertNear,
  CONTINUOUS,
  type Draw,
  draw,
  estimates,
  exact,
  sketchOf,
  TIED,
} from '../rum-values.ts'

const EXACT_VALUES = 512
const ALL = { ...CONTINUOUS, ...TIED }
const wholes = (maxLength: number, minLength = 1) =>
  fc.array(fc.oneof(fc.nat(60_000_000), fc.nat(5)), { minLength, maxLength, size: 'max' })

function assertClose(actual: readonly number[], wanted: readonly number[]): void {
  for (const [at, value] of actual.entries()) {
    const expected = wanted[at] ?? Number.NaN
    assert.ok(Math.abs(value - expected) <= 1e-6 * (1 + Math.abs(expected)), `${actual} ${wanted}`)
  }
}

describe('a sketch', () => {
  it('is exact up to 512 values, ties included', () => {
    const check = (values: number[]) => assertClose(estimates(sketchOf(values)), exact(values))
    fc.assert(fc.property(wholes(EXACT_VALUES), check))
    for (const from of Object.values(ALL)) check(draw(from, EXACT_VALUES))
  })

  it('gives known percentiles', () => {
    const of = (...values: number[]) => estimates(sketchOf(values))
    assert.deepEqual(of(1200), [1200, 1200, 1200])
    assert.deepEqual(of(100, 200), [150, 200, 200])
    assert.deepEqual(of(400, 100, 300, 200), [250, 350, 400])
    assert.deepEqual(of(100, 100, 100, 200), [100, 150, 200])
    assert.deepEqual(of(), [])
  })

  for (const [name, from] of Object.entries(CONTINUOUS)) {
    it(`is close for more values: ${name}`, () => {
      for (const n of [513, 2_000, 20_000]) {
        const values = draw(from, n)
        assertNear(estimates(sketchOf(values)), exact(values), `${name} ${n}`)
      }
    })
  }

  it('has the same percentiles if its values come from several sketches', () => {
    const check = (groups: number[][]) => {
      const sum = new Sketch()
      for (const values of groups) sum.add(sketchOf(values))
      const all = groups.flat()
      assert.equal(sum.n, all.length)
      assertClose(estimates(sum), exact(all))
    }
    fc.assert(fc.property(fc.array(wholes(60), { maxLength: 8 }), check))
    for (const from of Object.values(ALL)) check([draw(from, 200), [], draw(from, 300)])
  })

  for (const [name, from] of Object.entries(CONTINUOUS)) {
    it(`is close for many values from several sketches: ${name}`, () => {
      const groups = Array.from({ length: 40 }, (_, at) => draw(from, 1 + at * 40))
      const sum = new Sketch()
      for (const values of groups) sum.add(sketchOf(values))
      const all = groups.flat()
      assert.equal(sum.n, all.length)
      assert.ok(sum.packed().length <= 1_000)
      assertNear(estimates(sum), exact(all), name)
    })
  }

  it('is exact for any number of equal values', () => {
    for (const from of [TIED['constant'], TIED['two-valued']]) {
      assert.ok(from)
      const values = draw(from, 30_000)
      assert.deepEqual(estimates(sketchOf(values)), exact(values))
    }
  })

  it('loses no value, and stays small', () => {
    fc.assert(
      fc.property(wholes(3_000, 500), (values) => {
        const sketch = sketchOf(values)
        const centroids = sketch.packed()
        const weights = centroids.reduce((sum, centroid) => sum + countOf(centroid), 0)
        assert.equal(weights, values.length)
        assert.equal(sketch.n, values.length)
        assert.ok(centroids.length <= 1_000)
        const means = Array.from(centroids, meanOf)
        const inOrder = [...new Set(means)].toSorted((a, b) => a - b)
        assert.deepEqual(means, inOrder)
      }),
      { numRuns: 20 },
    )
  })
})

describe('several sketches taken together', () => {
  it('are exact up to 512 values in total', () => {
    fc.assert(
      fc.property(fc.array(wholes(60), { minLength: 1, maxLength: 8 }), (parts) => {
        assertClose(estimates(...parts.map(sketchOf)), exact(parts.flat()))
      }),
    )
  })

  it('are close for a week of hours', () => {
    for (const [name, from] of Object.entries(CONTINUOUS)) {
      const hours = Array.from({ length: 168 }, (_, hour) => draw(from, 300, hour))
      assertNear(estimates(...hours.map(sketchOf)), exact(hours.flat()), name)
    }
  })
})

describe('encoded measures', () => {
  const Values = fc.record(
    {
      lcp: fc.double({ min: 0, max: 600_000, noNaN: true }),
      cls: fc.double({ min: 0, max: 100, noNaN: true }),
      response: fc.nat(600_000),
    },
    { requiredKeys: [] },
  )

  it('are decoded unchanged', () => {
    fc.assert(
      fc.property(fc.array(Values, { maxLength: 900, size: 'max' }), (all) => {
        const measures: Measures = {}
        for (const values of all) addValues(measures, values)
        const bytes = encodeMeasures(measures)
        const back = decodeMeasures(bytes)
        assert.deepEqual(encodeMeasures(back), bytes)
        assert.deepEqual(back.lcp?.sketch.packed(), measures.lcp?.sketch.packed())
        for (const vital of VITALS) {
          assert.deepEqual(percentilesOf(vital, back), percentilesOf(vital, measures))
        }
        assert.equal(back.lcp?.poor, measures.lcp?.poor)
      }),
      { numRuns: 20 },
    )
  })

  it('are always the same bytes for the same values', () => {
    for (const from of Object.values(ALL)) {
      const bytes = () => {
        const measures: Measures = {}
        for (const value of draw(from, 5_000)) addValues(measures, { lcp: value / 100 })
        return encodeMeasures(measures)
      }
      assert.deepEqual(bytes(), bytes())
    }
  })

  it('stay as accurate when they are written and read repeatedly', () => {
    const values = draw(CONTINUOUS['lognormal'] ?? (() => 0), 12_000)
    let measures: Measures = {}
    for (const [at, value] of values.entries()) {
      addValues(measures, { lcp: value / 100 })
      if (at % 200 === 0) measures = decodeMeasures(encodeMeasures(measures))
    }
    const found = Object.values(percentilesOf('lcp', measures)).map(Number)
    const wanted = exact(values).map((value) => value / 100)
    assertNear(found, wanted, 'lognormal')
  })

  it('are refused if they are damaged or have another version', () => {
    assert.throws(() => decodeMeasures(Uint8Array.of(2)), /version 2/)
    assert.throws(() => decodeMeasures(Uint8Array.of(1, 99)), /damaged/)
    assert.throws(() => decodeMeasures(Uint8Array.of(1, 0, 1, 1, 1, 200)), /damaged/)
    assert.throws(() => decodeMeasures(Uint8Array.of()), /damaged/)
  })

  it('keep the metrics of a newer release, also when others are added', () => {
    const of = (values: Values) => {
      const measures: Measures = {}
      addValues(measures, values)
      return encodeMeasures(measures)
    }
    const [version, , ...one] = of({ lcp: 1_000 })
    const [, , ...two] = of({ lcp: 3_000 })
    const newer = METRICS.length
    const bytes = Uint8Array.of(Number(version), newer, ...one)
    const measures = decodeMeasures(of({ cls: 0.1 }))
    addMeasures(measures, decodeMeasures(bytes))
    addMeasures(measures, decodeMeasures(Uint8Array.of(Number(version), newer, ...two)))
    addMeasures(measures, decodeMeasures(of({ cls: 0.3 })))
    assert.equal(measures.cls?.sketch.n, 2)

    const expected: Measures = {}
    for (const lcp of [1_000, 3_000]) addValues(expected, { lcp })
    const [, , ...both] = encodeMeasures(expected)
    const written = [...encodeMeasures(measures)]
    assert.deepEqual(written.slice(-both.length - 1), [newer, ...both])
    assert.deepEqual([...encodeMeasures(decodeMeasures(Uint8Array.from(written)))], written)
  })

  it('count good, middling and poor values by the published thresholds', () => {
    const measures: Measures = {}
    for (const lcp of [0, 2_500, 2_500.01, 4_000, 4_000.01]) addValues(measures, { lcp })
    for (const cls of [0.1, 0.25, 0.26]) addValues(measures, { cls, dns: 9 })
    const { lcp, cls, dns } = measures
    assert.deepEqual([lcp?.good, lcp?.needsImprovement, lcp?.poor], [2, 2, 1])
    assert.deepEqual([cls?.good, cls?.needsImprovement, cls?.poor], [1, 1, 1])
    assert.deepEqual([dns?.good, dns?.needsImprovement, dns?.poor], [0, 0, 0])
  })
})

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
