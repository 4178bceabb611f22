import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { introduction, percent, points } from '../../../scripts/accuracy/words.ts'

describe('the introduction', () => {
  const cities = { inFile: 1, byName: 0, unknown: 0, ambiguous: 0, notLookedUp: 0 }
  const skipped = { bad: 0, repeated: 0, contradictory: 0, withoutPlace: 0, covered: 0 }
  const counts = { prefixes: 1_234, ipv4: 1_234, ipv6: 0, groups: 2 }
  const truth = { ...counts, form: 'columns', seed: 'any', skipped, examples: [] } as const
  const databases = [{ name: 'one', provider: 'one', product: 'One', built: '2026-01-13' }]
  const introduce = (own: Partial<typeof cities>, gazetteer: string) =>
    introduction({ truth: { ...truth, cities: { ...cities, ...own, gazetteer } }, databases })

  it('says only what there is to say', () => {
    assert.deepEqual(introduce({}, 'not needed'), [
      'Prefixes, by one address of each: 1,234 (1,234 IPv4, 0 IPv6); with the coordinates of a city: 1',
      'Groups, each of which weighs the same in figures per group: 2',
      'Databases: one of 2026-01-13',
    ])
  })

  it('says that cities are not compared if the gazetteer is not installed', () => {
    const last = introduce({ notLookedUp: 7 }, 'not installed').at(-1) ?? ''
    assert.match(last, /^7 cities have no coordinates, so only .* cities\.json .* not installed$/)
  })
})

describe('figures', () => {
  it('show shares in percent and differences in points, with intervals', () => {
    assert.equal(percent({ value: 0.8145, low: 0.5, high: 1 }), '81.5 [50.0, 100.0]')
    assert.equal(percent({ value: 0.25 }), '25.0')
    assert.equal(percent(undefined), '–')
    assert.equal(points({ value: 0.014, low: -0.0001, high: 0.03 }), '+1.4 points [0.0, +3.0]')
  })
})
