import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import type { RawPlace } from '../../../lib/geo/place/place.ts'
import { ANY_ADDRESS, a, b, locateIn } from '../fake-database.ts'

const NOON = Date.UTC(2026, 0, 15, 12)
const JULY = Date.UTC(2026, 6, 15, 12)

function shown(databases: readonly GeoDatabase[], { now = NOON, degraded = false } = {}) {
  const { json, precision } = writeResult(ANY_ADDRESS, locateIn(...databases), { now, degraded })
  assert.match(json, /^[ -~]*$/, 'only ASCII')
  return { ...v.parse(GeolocationResult, JSON.parse(`{${json}}`)), precision }
}

const everything: RawPlace = {
  continent: { code: 'EU' },
  country: { code: 'DE' },
  region: { code: 'DE-BE', name: 'Land Berlin' },
  district: 'Mitte',
  city: 'Berlin',
  postalCode: '10115',
  latitude: 52.52,
  longitude: 13.4,
  radiusKm: 20,
  timezone: 'Europe/Berlin',
}
const network = { asn: 1, organization: 'One' }
const fieldsOf = (place: RawPlace) => {
  const { location, precision } = shown([a(place), b(place)])
  const own = (value: object | undefined) => Object.keys(value ?? {})
  return { precision, location: own(location), country: own(location?.country) }
}

describe('the precision', () => {
  it('city shows all fields', () => {
    const places = ['continent', 'country', 'region', 'district', 'city', 'postalCode']
    assert.deepEqual(fieldsOf(everything), {
      precision: 'city',
      location: [...places, 'coordinates', 'timezone', 'utcOffset', 'geoConfidence'],
      country: ['code', 'name', 'flag', 'unions'],
    })
  })

  it('region hides district, city, postal code and coordinates', () => {
    assert.deepEqual(fieldsOf({ ...everything, city: undefined }), {
      precision: 'region',
      location: ['continent', 'country', 'region', 'timezone', 'utcOffset', 'geoConfidence'],
      country: ['code', 'name', 'flag', 'unions'],
    })
  })

  it('country shows the continent, and the code and name of the country', () => {
    assert.deepEqual(fieldsOf({ ...everything, city: undefined, region: undefined }), {
      precision: 'country',
      location: ['continent', 'country'],
      country: ['code', 'name'],
    })
  })

  it('country applies to a country of registration, whatever else the record holds', () => {
    const { country, ...rest } = everything
    const registered = { ...rest, ...(country && { registeredCountry: country }) }
    assert.equal(fieldsOf(registered).precision, 'country')
  })

  it('continent shows only the continent', () => {
    assert.deepEqual(fieldsOf({ continent: { code: 'EU' }, city: 'Berlin' }), {
      precision: 'continent',
      location: ['continent'],
      country: [],
    })
  })

  it('none shows no location', () => {
    assert.deepEqual(fieldsOf({ city: 'Berlin' }), { precision: 'none', location: [], country: [] })
  })
})

describe('a degraded answer', () => {
  it('has the precision country and no network', () => {
    const full = shown([a(everything, network)], { degraded: true })
    assert.deepEqual(full, {
      query: { type: 'ip', value: '192.0.2.1', ipVersion: 4 },
      location: {
        continent: { code: 'EU', name: 'Europe' },
        country: { code: 'DE', name: 'Germany' },
      },
      sources: { geo: ['a'] },
      precision: 'country',
    })
  })

  it('is never finer than the full answer', () => {
    const degraded = (place?: RawPlace) => shown([a(place, network)], { degraded: true })
    assert.equal(degraded({ continent: { code: 'AS' } }).precision, 'continent')
    const query = { type: 'ip', value: '192.0.2.1', ipVersion: 4 }
    assert.deepEqual(degraded(), { query, precision: 'none' })
  })
})

describe('the fields of an answer', () => {
  it('follow daylight saving time', () => {
    const offset = (now: number) => shown([a(everything)], { now }).location?.utcOffset
    assert.deepEqual([offset(NOON), offset(JULY)], ['+01:00', '+02:00'])
  })

  it('show the offset that all timezones of a country have, even if none of them is known', () => {
    const shownIn = (code: string, now: number, place: RawPlace = {}) => {
      const region = { code: `${code}-X`, name: 'X' }
      const { location, sources } = shown([a({ country: { code }, region, ...place })], { now })
      return [location?.timezone, location?.utcOffset, sources?.tz?.join()]
    }
    assert.deepEqual(shownIn('DE', JULY), [undefined, '+02:00', 'country'])
    assert.deepEqual(shownIn('DE', NOON, { city: 'Berlin' }), [undefined, '+01:00', 'country'])
    assert.deepEqual(shownIn('KZ', NOON), [undefined, '+05:00', 'country'])
    assert.deepEqual(shownIn('ES', NOON), [undefined, undefined, undefined])
    assert.deepEqual(shownIn('FR', NOON), ['Europe/Paris', '+01:00', 'country'])
  })

  it('leave out the offset of an unknown zone', () => {
    const { location } = shown([a({ ...everything, timezone: 'Mars/Olympus' })])
    assert.equal(location?.timezone, 'Mars/Olympus')
    assert.equal(location?.utcOffset, undefined)
  })

  const small = { 0: 1, 1: 1, 3: 2, 5: 3, 10: 6, 20: 12 }
  const miles = { ...small, 50: 31, 100: 62, 200: 124, 500: 311, 1000: 621 }
  for (const [km, expected] of Object.entries(miles)) {
    it(`show a radius of ${km} km as ${expected} miles`, () => {
      const { location } = shown([a({ ...everything, radiusKm: Number(km) })])
      assert.equal(location?.coordinates?.accuracyRadius, expected)
    })
  }

  it('show a coordinate of zero, but not two, which mean that none is known', () => {
    const { location } = shown([a({ ...everything, latitude: 0, longitude: 20 })])
    assert.deepEqual(location?.coordinates, { latitude: 0, longitude: 20, accuracyRadius: 12 })
    const unknown = shown([a({ ...everything, latitude: 0, longitude: -0 })])
    assert.equal(unknown.location?.coordinates, undefined)
  })

  it('show no impossible coordinates', () => {
    for (const coordinates of [{ latitude: 91 }, { longitude: -181 }, { latitude: undefined }]) {
      const { location } = shown([a({ ...everything, ...coordinates })])
      assert.equal(location?.coordinates, undefined)
    }
  })

  it('keep every name, whatever characters it has', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).filter((name) => name.isWellFormed())
    // A district in parentheses is split off.
    const cityName = text.filter((name) => !name.endsWith(')'))
    fc.assert(
      fc.property(cityName, text, text, (city, region, organization) => {
        const place = { ...everything, city, region: { code: 'DE-XX', name: region } }
        const { location, network } = shown([a(place, { organization })])
        assert.equal(location?.city, city)
        assert.equal(location?.region?.name, region)
        assert.equal(network?.organization, organization)
      }),
    )
  })

  it('show no country for codes that mean no country', () => {
    for (const code of ['ZZ', 'zz', 'QX', 'D', 'DEU', '', '-']) {
      assert.equal(shown([a({ country: { code } })]).precision, 'none', code)
    }
  })
})
