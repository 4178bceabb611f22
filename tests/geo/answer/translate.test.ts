import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { translate as translateJson } from '../../../lib/geo/answer/shape.ts'
import { asciiJson } from '../../../lib/geo/place/json-text.ts'

const COLOGNE = {
  continent: { code: 'EU', name: 'Europe' },
  country: { code: 'DE', name: 'Germany', flag: '\u{1f1e9}\u{1f1ea}' },
  region: { code: 'DE-NW', name: 'North Rhine-Westphalia' },
  city: 'Cologne',
  postalCode: '50667',
}
const NAMES = {
  continent: { de: 'Europa', en: 'Europe' },
  country: { de: 'Deutschland', en: 'Germany' },
  region: { de: 'Nordrhein-Westfalen', en: 'North Rhine-Westphalia' },
  city: { de: 'Köln', en: 'Cologne', ja: 'ケルン' },
}
const NOTHING = { continent: {}, country: {}, region: {}, city: {} }

/** Translates a location, which is JSON in the product. */
function translate<Location>(
  location: Location,
  ...how: [records: Parameters<typeof translateJson>[1], lang: Parameters<typeof translateJson>[2]]
): Location {
  return JSON.parse(translateJson(asciiJson(location), ...how))
}

describe('translate', () => {
  it('replaces the names of continent, country, region and city, and nothing else', () => {
    assert.deepEqual(translate(COLOGNE, [NOTHING, NAMES], 'de'), {
      continent: { code: 'EU', name: 'Europa' },
      country: { ...COLOGNE.country, name: 'Deutschland' },
      region: { code: 'DE-NW', name: 'Nordrhein-Westfalen' },
      city: 'Köln',
      postalCode: '50667',
    })
  })

  it('keeps a name that is not known in the language', () => {
    assert.deepEqual(translate(COLOGNE, [NAMES], 'ja'), { ...COLOGNE, city: 'ケルン' })
    assert.deepEqual(translate(COLOGNE, [NAMES], 'fr'), COLOGNE)
    assert.deepEqual(translate(COLOGNE, [], 'de'), COLOGNE)
  })

  it('takes names only from a record of the same place', () => {
    const bonn = { ...NAMES, city: { de: 'Bonn am Rhein', en: 'Bonn' } }
    assert.equal(translate(COLOGNE, [bonn], 'de').city, 'Cologne')
    assert.equal(translate(COLOGNE, [bonn, NAMES], 'de').city, 'Köln')
  })

  it('reads the name of a city without its district', () => {
    const names = { ...NAMES, city: { de: 'Köln (Deutz)', en: 'Cologne (Deutz)' } }
    assert.equal(translate(COLOGNE, [names], 'de').city, 'Köln')
  })

  it('finds a place by its first name if it has no English one', () => {
    const vienna = { continent: { code: 'EU', name: 'Europe' }, city: 'Wien' }
    const names = { ...NOTHING, city: { de: 'Wien', fr: 'Vienne' } }
    assert.equal(translate(vienna, [names], 'fr').city, 'Vienne')
  })

  it('ignores names that are not texts', () => {
    const names = { ...NAMES, city: { de: 7, en: 'Cologne' }, country: { de: '', en: 'Germany' } }
    const { city, country } = translate(COLOGNE, [names], 'de')
    assert.deepEqual([city, country?.name], ['Cologne', 'Germany'])
  })
})
