import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  assertNear,
  CONTINUOUS,
  draw,
  estimates,
  exact,
  rating,
  sketchOf,
  TIED,
} from '../rum-values.ts'

/* Compares sketches with exact percentiles, for as many values as a busy hour may have. */

const SIZES = [600, 5_000, 100_000, 1_000_000]
const TRIALS = 400
/** Thresholds in the unit of the values: hundredths of a millisecond, or CLS times 100,000. */
const THRESHOLDS = { time: [250_000, 400_000], step: [20_000, 50_000], cls: [10_000, 25_000] }

describe('a sketch of many values', () => {
  for (const [name, from] of Object.entries({ ...CONTINUOUS, ...TIED })) {
    it(`is within 1 % at p50 and p75, 2 % at p95: ${name}`, () => {
      for (const n of SIZES) {
        const values = draw(from, n)
        assertNear(estimates(sketchOf(values)), exact(values), `${name} ${n}`)
      }
    })
  }

  const trials = [
    ['lognormal', CONTINUOUS['lognormal'], THRESHOLDS.time],
    ['bimodal', CONTINUOUS['bimodal'], THRESHOLDS.time],
    ['steps of 8 ms', TIED['steps of 8 ms'], THRESHOLDS.step],
    ['CLS with zeros', TIED['CLS with zeros'], THRESHOLDS.cls],
    ['two-valued', TIED['two-valued'], THRESHOLDS.step],
  ] as const
  for (const [name, from, [good = 0, poor = 0]] of trials) {
    it(`has the exact rating at p75 in 99 of 100 trials: ${name}`, () => {
      assert.ok(from)
      let right = 0
      for (let seed = 1; seed <= TRIALS; seed++) {
        const values = draw(from, 20 + ((seed * 37) % 4_000), seed)
        const [, estimate = 0] = estimates(sketchOf(values))
        const [, wanted = 0] = exact(values)
        if (rating(estimate, good, poor) === rating(wanted, good, poor)) right += 1
      }
      assert.ok(right >= TRIALS * 0.99, `${right} of ${TRIALS}`)
    })
  }
})
