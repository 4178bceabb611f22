import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RawPlace } from '../../../lib/geo/place/place.ts'
import { a, b, c, fakeDatabase, locateIn } from '../fake-database.ts'
import { country, edinburgh, leeds, london } from '../places.ts'

describe('a provider that knows only where the network is registered', () => {
  const registered = (code: string): RawPlace => ({
    country: { code },
    registeredCountry: { code },
    latitude: 37.75,
    longitude: -97.8,
    radiusKm: 1000,
  })
  it('gives way to another provider that names another country', () => {
    const located = locateIn(a(registered('US')), b(london))
    assert.equal(located.place?.city, 'London')
    assert.equal(located.place?.country?.code, 'GB')
    assert.deepEqual(located.placeSources, ['b'])
    assert.equal(located.confidence, 0)
    assert.deepEqual(located.timezone, { name: 'Europe/London', source: 'b' })
  })

  it('gives way also if another file of its own, which cannot say so, comes first', () => {
    const { place } = locateIn(a(country('US')), a(registered('US')), b(london))
    assert.equal(place?.country?.code, 'GB')
  })

  it('decides if another file of its own knows more', () => {
    const texas = { country: { code: 'US' }, region: { code: 'US-TX', name: 'Texas' } }
    const { place } = locateIn(a(texas), a(registered('US')), b(london))
    assert.equal(place?.country?.code, 'US')
  })

  it('is not one that states no country of its own: that was not measured', () => {
    const { place } = locateIn(a({ registeredCountry: { code: 'US' } }), b(london))
    assert.equal(place?.country?.code, 'US')
  })

  it('gives way also to a provider that knows the country alone', () => {
    const { place } = locateIn(a(registered('US')), b(country('FR')))
    assert.equal(place?.country?.code, 'FR')
  })

  it('gives way if it is not the first provider of the list', () => {
    const located = locateIn(fakeDatabase('overlay'), a(registered('US')), b(london))
    assert.deepEqual(located.placeSources, ['b'])
  })

  it('decides if the first of the others names the same country', () => {
    const newYork = { country: { code: 'US' }, city: 'New York', latitude: 40.7, longitude: -74 }
    const { place, placeSources } = locateIn(a(registered('US')), b(newYork), c(london))
    assert.equal(place?.city, 'New York')
    assert.deepEqual(placeSources, ['a', 'b'])
  })

  it('decides if the others know no more', () => {
    const { place, confidence } = locateIn(a(registered('US')), b(registered('FR')))
    assert.deepEqual([place?.country?.code, confidence], ['US', 0])
    assert.equal(locateIn(a(registered('US'))).place?.country?.code, 'US')
  })

  it('decides if the other file is its own', () => {
    const { place } = locateIn(a(registered('US')), a(london))
    assert.equal(place?.country?.code, 'US')
  })

  it('is no witness against two providers that agree', () => {
    const { confidence, placeSources } = locateIn(a(registered('US')), b(london), c(london))
    assert.equal(confidence, 1)
    assert.deepEqual(placeSources, ['b', 'c'])
  })

  it('confirms the country of a provider before it', () => {
    const { confidence, placeSources } = locateIn(a(london), b(registered('GB')))
    assert.equal(confidence, 0.5)
    assert.deepEqual(placeSources, ['a', 'b'])
  })

  for (const [name, finer] of [
    ['a region', { region: { code: 'US-TX', name: 'Texas' } }],
    ['a city', { city: 'Dallas' }],
    ['another country than that of registration', { registeredCountry: { code: 'CA' } }],
  ] as const) {
    it(`is not one that names ${name}`, () => {
      const { place } = locateIn(a({ ...registered('US'), ...finer }), b(london))
      assert.equal(place?.country?.code, 'US')
    })
  }
})

describe('a record with a radius of 500 km or more', () => {
  const vague = { ...leeds, radiusKm: 500 }

  it('leaves region and city to the next provider that names a city in the country', () => {
    const { place, placeSources, confidence } = locateIn(
      a(vague),
      b({ ...edinburgh, latitude: 55.95, longitude: -3.19, radiusKm: 20 }),
    )
    assert.equal(place?.city, 'Edinburgh')
    assert.equal(place?.region?.code, 'GB-SCT')
    assert.match(place?.json.region ?? '', /GB-SCT/)
    assert.deepEqual(place?.coordinates, { latitude: 55.95, longitude: -3.19, accuracyRadius: 12 })
    assert.deepEqual(placeSources, ['a', 'b'])
    assert.equal(confidence, 0.5)
  })

  it('does so if it names a region only', () => {
    const scotland = { country: { code: 'GB' }, region: edinburgh.region, radiusKm: 1000 }
    const centre = { ...scotland, latitude: 56, longitude: -4 }
    const { place } = locateIn(a(centre), b(london))
    assert.deepEqual([place?.city, place?.region?.code], ['London', 'GB-ENG'])
  })

  it('keeps its region and city if no provider knows better', () => {
    for (const other of [country('GB'), { ...london, radiusKm: 1000 }, country('FR'), undefined]) {
      const { place } = locateIn(a(vague), b(other))
      assert.equal(place?.city, 'Leeds')
    }
  })

  it('does not fill in for one that knows less, if a later provider is precise', () => {
    const { place } = locateIn(a(country('GB')), b(vague), c(london))
    assert.equal(place?.city, 'London')
  })

  for (const operator of ['overlay', 'geofeed']) {
    it(`is believed if it is the operator's own: ${operator}`, () => {
      const { place, placeSources } = locateIn(fakeDatabase(operator, vague), b(edinburgh))
      assert.deepEqual([place?.city, place?.region?.code], ['Leeds', 'GB-ENG'])
      assert.deepEqual(placeSources, [operator, 'b'])
    })
  }

  it('confirms nothing about the city that takes the place of its own', () => {
    const { place, confidence } = locateIn(
      a(vague),
      b(vague),
      c({ ...london, latitude: 50.1, longitude: -5.5, region: undefined }),
    )
    assert.equal(place?.city, 'London')
    assert.equal(confidence, 0.5)
  })

  it('is one of at least 500 km', () => {
    const near = { ...leeds, radiusKm: 499 }
    const { place } = locateIn(a(near), b(london))
    assert.equal(place?.city, 'Leeds')
  })
})
