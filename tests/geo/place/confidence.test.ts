import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { confidence, sameCity } from '../../../lib/geo/place/confidence.ts'
import { type RawPlace, toPlace } from '../../../lib/geo/place/place.ts'

function placeOf(raw: RawPlace) {
  const place = toPlace({ country: { code: 'GB' }, ...raw })
  assert.ok(place)
  return place
}

const at = (city: string, latitude: number, longitude = 0) => ({ city, latitude, longitude })
const england = { code: 'GB-ENG', name: 'England' }
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
  ['the same region', { region: england, city: 'A' }, { region: england, city: 'B' }, 0.75],
  ['the same country', { city: 'A' }, { city: 'B' }, 0.5],
  ['a country and a city', {}, { city: 'B' }, 0.5],
  [
    'two records with the centre of a country',
    { latitude: 1, longitude: 1 },
    { latitude: 1, longitude: 1 },
    0.5,
  ],
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
