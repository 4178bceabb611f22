import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { byVital, METRIC_RULES, VITALS } from '../../../lib/contract/telemetry/metrics.ts'
import { MIN_VIEWS, rate, valueText } from '../../../lib/contract/telemetry/rating.ts'
import { firstAudience, isNotable, judge, percent } from '../../../pages/dashboard/vitals/rating.ts'

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
    const percents = [0, 0.004, 0.0001, 0.126, 1].map(percent)
    assert.deepEqual(percents, ['0 %', '0.4 %', '0.1 %', '13 %', '100 %'])
  })
})

describe('a change of p75', () => {
  /** The values of pages that are all alike, by a generator that begins with the seed (Numerical Recipes, § 7.1). */
  function measure(seed: number, { views = MIN_VIEWS, factor = 1 } = {}) {
    let state = seed
    const random = () => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return (state + 1) / 2 ** 32
    }
    // Page loads are distributed log-normally: developer.chrome.com/docs/lighthouse/performance/performance-scoring
    // Sorted by their size, without a comparison in JavaScript: there are twelve million.
    const values = Float64Array.from({ length: views }, () => {
      const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random())
      return 1_500 * factor * Math.exp(0.6 * normal)
    }).sort()
    const at = (share: number) => values[Math.floor(share * views)] ?? null
    return { p50: at(0.5), p75: at(0.75), p95: at(0.95), sampleCount: views, ratings: null }
  }
  const share = (of: (seed: number) => boolean) =>
    Array.from({ length: 200 }, (_, n) => of(n * 7_919)).filter(Boolean).length / 200

  it('is rarely notable if nothing has changed', () => {
    const rare = share((seed) => isNotable('lcp', measure(seed), measure(seed + 1)))
    assert.ok(rare < 0.05, `${rare}`)
  })

  it('is notable if it is large, or small but of many views', () => {
    for (const [views, factor] of [
      [MIN_VIEWS, 1.5],
      [30_000, 1.1],
    ] as const) {
      const found = share((seed) =>
        isNotable('lcp', measure(seed, { views, factor }), measure(seed + 1, { views })),
      )
      assert.equal(found, 1, `${views} views`)
    }
  })

  it('is not notable below a twentieth of what is good, however sure', () => {
    const at = (p75: number) => ({ ...measure(1), p50: p75, p75, p95: p75 })
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
