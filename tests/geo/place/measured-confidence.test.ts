import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { confidence, sameCity } from '../../../lib/geo/place/confidence.ts'
import {
  AGREEMENTS,
  areMeasured,
  basisOf,
  DETAILS,
  isMeasuredProduct,
  type MeasuredConfidence,
  measuredConfidence,
} from '../../../lib/geo/place/measured-confidence.ts'
import table from '../../../lib/geo/place/measured-shares.json' with { type: 'json' }
import { type RawPlace, toPlace } from '../../../lib/geo/place/place.ts'

function placeOf(raw: RawPlace = {}) {
  return toPlace({ country: { code: 'GB' }, ...raw }) ?? assert.fail()
}

const region = { code: 'GB-ENG', name: 'England' }
const london = { city: 'London', latitude: 51.5, longitude: -0.1 }

describe('the table of measured shares', () => {
  it('has one row for each provider, agreement and detail', () => {
    const expected = ['DBIP-City-Lite', 'GeoLite2-City'].flatMap((product) =>
      AGREEMENTS.flatMap((agreement) => DETAILS.map((detail) => ({ product, agreement, detail }))),
    )
    const keys = table.rows.map(({ product, agreement, detail }) => ({
      product,
      agreement,
      detail,
    }))
    assert.deepEqual(keys, expected)
  })

  it('has shares from 0.01 to 0.99 of what such answers name', () => {
    for (const row of table.rows) {
      const { detail, country, region: share, city }: MeasuredConfidence & { detail: string } = row
      for (const one of [country, share, city]) {
        assert.ok(one === undefined || (one >= 0.01 && one <= 0.99), JSON.stringify(row))
      }
      assert.equal(share === undefined, detail === 'country')
      assert.equal(city === undefined, !detail.startsWith('city'))
    }
  })

  it('says when and on what it was measured', () => {
    assert.match(table.date, /^\d{4}-\d\d-\d\d$/)
    assert.match(table.command, /^npm run accuracy -- .* --table$/)
    assert.ok(table.prefixes > 1_000 && table.groups > 20)
  })
})

describe('measuredConfidence', () => {
  it('is the row of the provider, the agreement and the detail', () => {
    const cases: readonly (readonly [number | undefined, Partial<RawPlace>, string, string])[] = [
      [undefined, {}, 'none', 'country'],
      [0, { region }, '0', 'region'],
      [0.5, { ...london, region }, '0.5', 'city'],
      [0.75, { ...london, radiusKm: 10 }, '0.75', 'city, 10 km'],
      [1, { ...london, radiusKm: 11 }, '1', 'city, 25 km'],
      [1, { ...london, radiusKm: 25 }, '1', 'city, 25 km'],
      [1, { ...london, radiusKm: 50 }, '1', 'city, 100 km'],
      [1, { ...london, radiusKm: 100 }, '1', 'city, 100 km'],
      [1, { ...london, radiusKm: 200 }, '1', 'city, 499 km'],
      [1, { ...london, radiusKm: 499 }, '1', 'city, 499 km'],
      [1, { ...london, radiusKm: 500 }, '1', 'city, wider'],
    ]
    for (const [agreement, raw, name, detail] of cases) {
      for (const product of table.order) {
        const place = placeOf(raw)
        assert.deepEqual(basisOf(product, agreement, place), { product, agreement: name, detail })
        const row = table.rows.find(
          (one) => one.product === product && one.agreement === name && one.detail === detail,
        )
        const { product: _, agreement: __, detail: ___, ...share } = row ?? assert.fail()
        assert.deepEqual(measuredConfidence(product, agreement, place), share)
      }
    }
  })

  it('is undefined for a product that was not measured', () => {
    assert.equal(measuredConfidence('GeoIP2-City', undefined, placeOf()), undefined)
    assert.deepEqual(['GeoLite2-City', 'GeoIP2-City'].map(isMeasuredProduct), [true, false])
  })
})

describe('areMeasured', () => {
  const cases: readonly (readonly [readonly string[], boolean])[] = [
    [['GeoLite2-City'], true],
    [['DBIP-City-Lite'], true],
    [['GeoLite2-City', 'DBIP-City-Lite', 'DBIP-City-Lite'], true],
    [['DBIP-City-Lite', 'GeoLite2-City'], false],
    [['Meridian-Overlay', 'GeoLite2-City'], false],
    [['GeoLite2-City', 'ipinfo', 'DBIP-City-Lite'], false],
    [['GeoLite2-Country'], false],
    [[], false],
  ]
  for (const [products, expected] of cases) {
    it(`is ${expected} for ${products.join(', ') || 'none'}`, () => {
      assert.equal(areMeasured(products.map((product) => ({ product }))), expected)
    })
  }
})

const at = (city: string, latitude: number, longitude = 0) => ({ city, latitude, longitude })
const CENTRE = { latitude: 1, longitude: 1 }
const cases: readonly (readonly [string, RawPlace, RawPlace, number])[] = [
  ['different countries', { country: { code: 'FR' }, city: 'Ware' }, { city: 'Ware' }, 0],
  ['the same city', { city: 'York' }, { city: 'York' }, 1],
  ['one city in two spellings', { city: 'Saint-Étienne' }, { city: 'saint etienne' }, 1],
  ['49 km apart', at('A', 51), at('B', 51.44), 1],
  ['51 km apart', at('A', 51), at('B', 51.46), 0.75],
  ['199 km apart', at('A', 51), at('B', 52.79), 0.75],
  ['201 km apart', at('A', 51), at('B', 52.81), 0.5],
  ['across the date line', at('A', 0, 179.9), at('B', 0, -179.9), 1],
  ['at the poles', at('A', 90, 0), at('B', 90, 180), 1],
  ['antipodes', at('A', 0, 0), at('B', 0, 180), 0.5],
  ['the same region', { region, city: 'A' }, { region, city: 'B' }, 0.75],
  ['the same country', { city: 'A' }, { city: 'B' }, 0.5],
  ['a country and a city', {}, { city: 'B' }, 0.5],
  ['two records with the centre of a country', CENTRE, CENTRE, 0.5],
]

describe('confidence', () => {
  for (const [name, first, second, expected] of cases) {
    it(`of ${name} is ${expected}, in either order`, () => {
      assert.equal(confidence(placeOf(first), placeOf(second)), expected)
      assert.equal(confidence(placeOf(second), placeOf(first)), expected)
    })
  }
})

describe('sameCity', () => {
  it('needs two names', () => {
    assert.equal(sameCity(placeOf({}), placeOf({})), false)
    assert.equal(sameCity(placeOf({ city: 'A' }), placeOf({})), false)
    assert.equal(sameCity(placeOf({ city: '東京' }), placeOf({ city: '東京' })), true)
    assert.equal(sameCity(placeOf({ city: '東京' }), placeOf({ city: '大阪' })), false)
  })
})
