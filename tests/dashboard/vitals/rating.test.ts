import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  byVital,
  type CoreVital,
  METRIC_RULES,
  VITALS,
} from '../../../lib/contract/telemetry/metrics.ts'
import {
  columnText,
  MIN_VIEWS,
  rate,
  valueText,
  worstPage,
} from '../../../lib/contract/telemetry/rating.ts'
import type { MetricOverview } from '../../../lib/contract/telemetry/telemetry-overview.ts'
import { Group } from '../../../lib/rum/read/groups.ts'
import { Centroids } from '../../../lib/rum/sketch/centroids.ts'
import { newMeasure } from '../../../lib/rum/sketch/measures.ts'
import { addCentroids, encodeMeasures } from '../../../lib/rum/sketch/measures-blob.ts'
import { percent } from '../../../pages/dashboard/parts/format.ts'
import { firstAudience, isNotable, judge } from '../../../pages/dashboard/vitals/rating.ts'
import { type Draw, draw, lognormal, sketchOf } from '../../rum/rum-values.ts'

const NBSP = '\u00a0'

describe('the verdict on Core Web Vitals', () => {
  const p75 = { ...byVital(() => 9_000), lcp: 2_500, inp: 200, cls: 0.1 }
  const views = MIN_VIEWS

  it('is passed if LCP, INP and CLS are at or below their thresholds', () => {
    assert.equal(judge(p75, views), 'passed')
    assert.equal(judge({ ...p75, lcp: 2_500.01 }, views), 'failed')
    assert.equal(judge({ ...p75, inp: 200.01 }, views), 'failed')
    assert.equal(judge({ ...p75, cls: 0.10001 }, views), 'failed')
  })

  it('does not need INP, but is unknown without LCP or CLS', () => {
    assert.equal(judge({ ...p75, inp: null }, views), 'passed')
    assert.equal(judge({ ...p75, lcp: null }, views), 'unknown')
    assert.equal(judge({ ...p75, cls: null }, views), 'unknown')
    assert.equal(judge({ ...p75, cls: null, lcp: 3_000 }, views), 'failed')
  })

  it('needs 300 views', () => {
    assert.equal(judge({ ...p75, lcp: 9_000 }, 299), 'few')
    assert.equal(judge(p75, 299), 'few')
  })

  it('is first that of the device that fails, else of the one with the most views', () => {
    const of = (deviceType: string | null, sampleCount: number, lcp = 1_000) => {
      return { deviceType, sampleCount, p75: { ...p75, lcp } }
    }
    assert.equal(firstAudience([of('mobile', 900), of('desktop', 300, 9_000)]), 'desktop')
    assert.equal(firstAudience([of('mobile', 900), of('desktop', 299, 9_000)]), 'mobile')
    assert.equal(firstAudience([of('desktop', 900, 9_000), of('mobile', 800, 9_000)]), 'desktop')
    assert.equal(firstAudience([of('tablet', 900, 9_000), of('mobile', 1)]), 'mobile')
    assert.equal(firstAudience([of(null, 900), of('watch', 800)]), 'all')
    assert.equal(firstAudience([]), 'all')
  })

  it('rates values by the thresholds', () => {
    const rates = [2_500, 2_501, 4_000, 4_001].map((value) => rate('lcp', value))
    assert.deepEqual(rates, ['good', 'needs-improvement', 'needs-improvement', 'poor'])
    const shares = [0, 0.0001, 0.004, 0.0096, 0.126, 0.99, 0.996, 0.9996, 1, 1234.5]
    const texts = ['0%', 'under 0.1%', '0.4%', '1%', '13%', '99%', '99.6%', '99.9%', '100%']
    assert.deepEqual(
      shares.map((share) => percent(share)),
      [...texts, '123,450%'],
    )
    assert.equal(percent(0, 0), '0%')
  })

  it('names a worst page only if it is no better than all pages', () => {
    const page = (path: string, inp: number | null, sampleCount = MIN_VIEWS) => {
      return { path, sampleCount, p75: { ...p75, inp } }
    }
    const pages = [page('/few', 900, 299), page('/a', 224), page('/b', 300), page('/none', null)]
    assert.equal(worstPage(pages, 'inp', 301), null)
    assert.deepEqual(worstPage(pages, 'inp', 300), { path: '/b', value: 300 })
    assert.deepEqual(worstPage(pages, 'inp', 200), { path: '/b', value: 300 })
  })

  it('gives all values of a column as many digits, and enough for the ratings of all', () => {
    const texts = (...values: number[]) => values.map(columnText('lcp', values))
    assert.deepEqual(texts(4_100, 4_900, 999), ['4.1\u00a0s', '4.9\u00a0s', '999\u00a0ms'])
    // 2.5 s would be good, and 4.0 s would need improvement only.
    assert.deepEqual(texts(4_900, 2_510), ['4.90\u00a0s', '2.51\u00a0s'])
    assert.deepEqual(texts(4_020, 4_900), ['4.02\u00a0s', '4.90\u00a0s'])
    assert.deepEqual(
      [4_020, 4_900].map((value) => valueText('lcp', value)),
      ['4.02\u00a0s', '4.9\u00a0s'],
    )
  })
})

describe('a change of p75', () => {
  // In hundredths of a millisecond, and CLS times 100,000, as sketches have them. Page loads are distributed
  // log-normally: developer.chrome.com/docs/lighthouse/performance/performance-scoring
  const alike = lognormal(150_000, 0.6)
  const cold = 0.25
  /** Two groups, such as visitors with warm and cold caches: p75 lies where hardly any value is. */
  const mixed = (share: number, rest: Draw, others: Draw): Draw => {
    return (random, at) => (random() < share ? others : rest)(random, at)
  }
  const caches = mixed(cold, lognormal(90_000, 0.2), lognormal(400_000, 0.2))
  const banner = mixed(cold, () => 0, lognormal(25_000, 0.1))
  const slower: Draw = (random, at) => 1.5 * alike(random, at)
  const littleSlower: Draw = (random, at) => 1.15 * alike(random, at)

  function measure(vital: CoreVital, from: Draw, views: number, seed: number): MetricOverview {
    const measures = { [vital]: newMeasure(sketchOf(draw(from, views, seed).map(Math.round))) }
    const group = new Group()
    group.add({
      samples: views,
      measures: addCentroids(new Centroids(), encodeMeasures(measures)),
    })
    return group.metric(vital)
  }

  interface Trial {
    readonly vital?: CoreVital
    readonly now: Draw
    readonly before?: Draw
    readonly views?: number
    readonly trials: number
  }

  /** The share of trials in which the change is notable. */
  function notable({ vital = 'lcp', now, before = now, views = MIN_VIEWS, trials }: Trial): number {
    const found = Array.from({ length: trials }, (_, trial) => {
      const [seed, other] = [2 * trial + 1, 2 * trial + 2]
      return isNotable(
        vital,
        measure(vital, now, views, seed),
        measure(vital, before, views, other),
      )
    })
    return found.filter(Boolean).length / trials
  }

  it('is rarely notable if nothing has changed, also if the values are of two groups', () => {
    const same: Readonly<Record<string, Trial>> = {
      alike: { now: alike, trials: 200 },
      'two groups': { now: caches, trials: 200 },
      'two groups, many views': { now: caches, views: 3_000, trials: 100 },
      'mostly zeros': { vital: 'cls', now: banner, trials: 200 },
      'mostly zeros, many views': { vital: 'cls', now: banner, views: 3_000, trials: 100 },
    }
    for (const [name, trial] of Object.entries(same)) {
      // A chance of 5 %, and twice the standard error of a share of so many trials.
      const most = 0.05 + 2 * Math.sqrt((0.05 * 0.95) / trial.trials)
      const share = notable(trial)
      assert.ok(share <= most, `${name}: ${share}`)
    }
  })

  it('is notable if it is large, or small but of many views', () => {
    assert.equal(notable({ now: slower, before: alike, trials: 50 }), 1)
    const many = { now: littleSlower, before: alike, views: 10_000, trials: 20 }
    assert.equal(notable(many), 1)
  })

  it('is not notable below a twentieth of what is good, however sure', () => {
    const at = (p75: number) => {
      const p75Range = { low: p75, high: p75 }
      return { p50: p75, p75, p95: p75, p75Range, sampleCount: 9_000, ratings: null }
    }
    assert.equal(isNotable('lcp', at(2_124), at(2_000)), false)
    assert.equal(isNotable('lcp', at(2_125), at(2_000)), true)
    assert.equal(isNotable('cls', at(0.012), at(0.008)), false)
  })
})

describe('the text of a value', () => {
  it('is in seconds from one second on', () => {
    const texts = [4_229, 1_840.4, 1_000, 999.6, 999.4, 264, 0].map((ms) => valueText('lcp', ms))
    const expected = ['4.2 s', '1.8 s', '1.0 s', '1.0 s', '999 ms', '264 ms', '0 ms']
    assert.deepEqual(
      texts,
      expected.map((text) => text.replace(' ', NBSP)),
    )
    assert.equal(valueText('cls', 0.0214), '0.02')
  })

  it('has enough digits to have the rating of the value', () => {
    const texts = [valueText('lcp', 2_510), valueText('inp', 200.4), valueText('cls', 0.1004)]
    assert.deepEqual(texts, [`2.51${NBSP}s`, `200.4${NBSP}ms`, '0.1004'])
    const Vital = fc.constantFrom(...VITALS)
    fc.assert(
      fc.property(Vital, fc.nat(100_000), (vital, n) => {
        const { unit } = METRIC_RULES[vital]
        const value = unit === 'ms' ? n / 10 : n / 100_000
        const [number = '', shownUnit] = valueText(vital, value).split(NBSP)
        const shown = Number(number) * (shownUnit === 's' ? 1_000 : 1)
        assert.equal(rate(vital, shown), rate(vital, value))
      }),
    )
  })
})
