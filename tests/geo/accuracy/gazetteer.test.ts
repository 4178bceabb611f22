import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createFindCity } from '../../../lib/geo/accuracy/gazetteer.ts'
import { readGazetteer } from '../../../lib/geo/accuracy/gazetteer-file.ts'

const find = createFindCity([
  { name: 'Springfield', country: 'US', region: 'US-IL', latitude: 39.8, longitude: -89.6 },
  { name: 'Springfield', country: 'US', region: 'US-MO', latitude: 37.2, longitude: -93.3 },
  { name: 'New York City', country: 'US', region: 'US-NY', latitude: 40.7, longitude: -74 },
  { name: 'Saint-Étienne', country: 'FR', region: undefined, latitude: 45.4, longitude: 4.4 },
  { name: 'Twin', country: 'FR', region: 'FR-IDF', latitude: 48.8, longitude: 2.3 },
  { name: 'Twin', country: 'FR', region: 'FR-IDF', latitude: 48.9, longitude: 2.4 },
])

const NOWHERE = { region: undefined, country: 'US' }

describe('the gazetteer', () => {
  it('finds a city by its name, without case, accents and punctuation', () => {
    const expected = { latitude: 45.4, longitude: 4.4 }
    for (const city of ['Saint-Étienne', 'ST. ETIENNE', 'saint etienne']) {
      assert.deepEqual(find({ country: 'FR', region: 'FR-42', city }), expected, city)
    }
    assert.deepEqual(find({ ...NOWHERE, city: 'New York' }), { latitude: 40.7, longitude: -74 })
  })

  it('needs the region where a name means several places', () => {
    assert.equal(find({ ...NOWHERE, city: 'Springfield' }), 'ambiguous')
    const missouri = { latitude: 37.2, longitude: -93.3 }
    assert.deepEqual(find({ country: 'US', region: 'US-MO', city: 'Springfield' }), missouri)
  })

  it('takes places within 25 km of each other as one', () => {
    const first = { latitude: 48.8, longitude: 2.3 }
    assert.deepEqual(find({ country: 'FR', region: undefined, city: 'Twin' }), first)
  })

  it('does not take a place of another region or country', () => {
    assert.equal(find({ country: 'US', region: 'US-NY', city: 'Springfield' }), 'unknown')
    assert.equal(find({ country: 'CA', region: undefined, city: 'Springfield' }), 'unknown')
  })

  it('is that of the package, if it is installed', () => {
    const regionCode = (country: string, name: string) =>
      country === 'DE' && name === 'Hesse' ? 'DE-HE' : undefined
    const findCity = readGazetteer(regionCode)
    const found = findCity?.({ country: 'DE', region: 'DE-HE', city: 'Kassel' })
    assert.ok(typeof found === 'object')
    assert.deepEqual([found.latitude.toFixed(1), found.longitude.toFixed(1)], ['51.3', '9.5'])
    const missing = () => {
      throw new Error('Cannot find module')
    }
    assert.equal(readGazetteer(regionCode, missing), undefined)
  })
})
