import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { calibrateByTenth, calibrateByValue } from '../../../lib/geo/accuracy/calibrate.ts'
import { estimateMean, estimateMedian } from '../../../lib/geo/accuracy/statistics.ts'
import { createRandom } from '../../../scripts/parts/random.ts'

const newRandom = () => createRandom(7)
const values = (groups: Readonly<Record<string, readonly number[]>>) =>
  Object.entries(groups).flatMap(([group, own]) => own.map((value) => ({ group, value })))

describe('estimateMean', () => {
  it('weighs each prefix, or each group, the same', () => {
    const groups = values({ large: [1, 1, 1, 1, 1, 1, 0, 1], small: [0, 1] })
    const found = estimateMean(groups, newRandom)
    assert.deepEqual([found?.prefixes, found?.groups], [10, 2])
    assert.equal(found?.perPrefix.value, 0.8)
    assert.equal(found?.perGroup.value, (7 / 8 + 1 / 2) / 2)
  })

  it('has the interval of resampled groups, the same each time', () => {
    const two = values({ right: [1, 1, 1], wrong: [0] })
    const found = estimateMean(two, newRandom)
    // A quarter of the resamples has only the one group, and a quarter only the other.
    assert.deepEqual(found?.perGroup, { value: 0.5, low: 0, high: 1 })
    assert.deepEqual(found?.perPrefix, { value: 0.75, low: 0, high: 1 })
    const many = values(Object.fromEntries(Array.from({ length: 40 }, (_, at) => [at, [at % 2]])))
    const { perGroup } = estimateMean(many, newRandom) ?? {}
    assert.deepEqual(perGroup, estimateMean(many, newRandom)?.perGroup)
    // The quantiles of the binomial distribution of 40 draws are 14 and 26.
    assert.equal(perGroup?.value, 0.5)
    assert.ok(Math.abs(40 * (perGroup?.low ?? 0) - 14) <= 1)
    assert.ok(Math.abs(40 * (perGroup?.high ?? 0) - 26) <= 1)
  })

  it('has no interval for one group, and nothing without values', () => {
    assert.deepEqual(estimateMean(values({ one: [1, 0] }), newRandom)?.perPrefix, { value: 0.5 })
    assert.equal(estimateMean([], newRandom), undefined)
  })
})

describe('estimateMedian', () => {
  it('is the lower median of the prefixes, or of the medians of the groups', () => {
    const found = estimateMedian(values({ a: [1, 2, 3], b: [10, 20, 30, 40], c: [500] }), newRandom)
    assert.equal(found?.perPrefix.value, 10)
    assert.equal(found?.perGroup.value, 20)
    assert.equal(estimateMedian(values({ a: [4, 1, 3, 2] }), newRandom)?.perPrefix.value, 2)
  })

  it('resamples groups for its interval', () => {
    const found = estimateMedian(values({ near: [1], far: [9] }), newRandom)
    assert.deepEqual(found?.perPrefix, { value: 1, low: 1, high: 9 })
  })
})

const claim = (stated: number | undefined, isRight: boolean, group = 'a') => {
  return { stated, isRight, group }
}

describe('calibrateByValue', () => {
  it('has the share that is right of each stated value, absent values first', () => {
    const known = [claim(1, true), claim(0.5, true), claim(1, true, 'b'), claim(1, false, 'b')]
    const bins = calibrateByValue([...known, claim(undefined, false)], newRandom)
    const rows = bins.map(({ stated, right: { prefixes, perPrefix, perGroup } }) => [
      stated,
      prefixes,
      perPrefix.value,
      perGroup.value,
    ])
    assert.deepEqual(rows, [
      [undefined, 1, 0, 0],
      [0.5, 1, 1, 1],
      [1, 3, 2 / 3, 0.75],
    ])
  })
})

describe('calibrateByTenth', () => {
  it('compares the mean of the values from one tenth to the next with the share that is right', () => {
    const claimAt = (_: unknown, at: number) => claim((at + 0.5) / 100, at % 10 < at / 10)
    const claims = Array.from({ length: 100 }, claimAt)
    const bins = calibrateByTenth(claims.toReversed(), newRandom)
    const sizes = bins.map(({ right }) => right.prefixes)
    assert.deepEqual(sizes, Array(10).fill(10))
    assert.deepEqual([bins[0]?.from, bins[0]?.to], [0.005, 0.095])
    assert.equal(bins[3]?.stated?.toFixed(6), '0.350000')
    assert.equal(bins[3]?.right.perPrefix.value, 0.4)
  })

  it('compares as many answers as there are', () => {
    const claims = Array.from({ length: 200_000 }, () => claim(0.95, true))
    const [bin] = calibrateByTenth(claims, newRandom)
    assert.deepEqual([bin?.from, bin?.to, bin?.right.prefixes], [0.95, 0.95, 200_000])
  })

  it('has no bin for a tenth without values, and leaves out answers without one', () => {
    const claims = [
      ...Array.from({ length: 15 }, () => claim(0.9, true)),
      ...Array.from({ length: 5 }, () => claim(0.2, false)),
      claim(1, true),
      claim(undefined, true),
    ]
    const rows = calibrateByTenth(claims, newRandom).map(
      ({ stated, right }) => `${stated?.toFixed(3)} ${right.prefixes} ${right.perPrefix.value}`,
    )
    assert.deepEqual(rows, ['0.200 5 0', '0.906 16 1'])
  })
})
