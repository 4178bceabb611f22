import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { DecodedMap } from '../../../lib/geo/mmdb/decoder.ts'
import { openMmdb } from '../../../lib/geo/mmdb/mmdb.ts'
import type { MmdbValue } from '../../../lib/geo/mmdb/value.ts'
import { chooseSchema, SCHEMAS } from '../../../lib/geo/providers/choose.ts'
import { flatCity } from '../../../lib/geo/providers/flat-city.ts'
import { ipinfo } from '../../../lib/geo/providers/ipinfo.ts'
import { maxmind } from '../../../lib/geo/providers/maxmind.ts'
import type { Schema } from '../../../lib/geo/providers/schema.ts'
import { mmdbBytes } from '../../support/geo-files.ts'

const schemaOf = (databaseType: string, ...records: MmdbValue[]) => {
  const entries = records.map((record, n) => [`${n + 1}.0.0.0/8`, record])
  return chooseSchema(openMmdb(mmdbBytes(Object.fromEntries(entries), { databaseType })))
}

const flatRecord = { country_code: 'GB', state1: 'England', city: 'London', latitude: 51.5 }
const liteRecord = { asn: 'AS1', as_name: 'One', country_code: 'GB', continent_code: 'EU' }

describe('the schema of a file', () => {
  const cases: readonly (readonly [string, MmdbValue, string])[] = [
    ['MaxMind City', { country: { iso_code: 'GB' } }, 'maxmind'],
    ['MaxMind ASN', { autonomous_system_number: 1 }, 'maxmind'],
    ['MaxMind ISP', { isp: 'One', organization: 'One' }, 'maxmind'],
    ['MaxMind Domain', { domain: 'one.example' }, 'maxmind'],
    ['a flat City file', flatRecord, 'flat-city'],
    ['a flat Country file', { country_code: 'GB' }, 'flat-city'],
    ['IPinfo Lite', liteRecord, 'ipinfo'],
    ['IPinfo Country ASN', { country: 'GB', country_name: 'United Kingdom', asn: 'AS1' }, 'ipinfo'],
  ]
  for (const [name, record, expected] of cases) {
    it(`of ${name} is recognized by its records, whatever the metadata states`, () => {
      assert.equal(schemaOf('Anything', record).name, expected)
      assert.equal(schemaOf('Anything', {}, { x: 1 }, record).name, expected)
    })
  }

  it('names the provider if the file does', () => {
    const provider = (databaseType: string) => {
      const { metadata } = openMmdb(mmdbBytes({ '1.0.0.0/8': {} }, { databaseType }))
      return maxmind.provider(metadata)
    }
    assert.equal(provider('GeoLite2-City'), 'maxmind')
    assert.equal(provider('GeoIP2-Enterprise'), 'maxmind')
    assert.equal(provider('DBIP-City-Lite'), 'dbip')
    assert.equal(provider('Other'), undefined)
  })
})

describe('the schema of MaxMind’s Country files', () => {
  const record = { country: { iso_code: 'US' }, registered_country: { iso_code: 'US' } }
  const readAs = (databaseType: string, one: DecodedMap) =>
    schemaOf(databaseType, record).read(one, () => undefined).place

  it('does not take a record without a city for one that knows only the registration', () => {
    assert.equal(readAs('GeoLite2-City', record)?.isOnlyRegistered, true)
    assert.equal(readAs('GeoIP2-Enterprise', record)?.isOnlyRegistered, true)
    for (const type of ['GeoLite2-Country', 'GeoIP2-Country', 'DBIP-Country-Lite']) {
      assert.equal(readAs(type, record)?.isOnlyRegistered, false, type)
      assert.equal(readAs(type, record)?.country?.code, 'US')
    }
  })

  it('uses the country of registration of a record without its own', () => {
    const place = readAs('GeoLite2-Country', { registered_country: { iso_code: 'FR' } })
    assert.deepEqual([place?.country?.code, place?.isOnlyRegistered], ['FR', false])
  })
})

describe('the MaxMind schema', () => {
  const read = (record: DecodedMap) => maxmind.read(record, (country, name) => `${country}-${name}`)

  it('uses the country of the user, not that of registration', () => {
    const { place } = read({
      country: { iso_code: 'GB', names: 'United Kingdom' },
      registered_country: { iso_code: 'FR' },
      represented_country: { iso_code: 'US' },
    })
    assert.deepEqual(place?.country, { code: 'GB', name: 'United Kingdom' })
  })

  it('uses only the country of a record that has only the registration', () => {
    const { place } = read({
      registered_country: { iso_code: 'FR' },
      city: { names: 'Paris' },
      location: { latitude: 1, longitude: 1, time_zone: 'Europe/Paris' },
    })
    assert.deepEqual(place?.country, { code: 'FR', name: 'France' })
    const { city, coordinates, timezone } = place ?? {}
    assert.deepEqual([city, coordinates, timezone], [undefined, undefined, undefined])
  })

  it('makes full ISO 3166-2 codes, from the name if the code is missing', () => {
    const regionOf = (subdivision: DecodedMap) =>
      read({ country: { iso_code: 'US' }, subdivisions: [subdivision, { names: 'County' }] }).place
    const california = { code: 'US-CA', name: 'California' }
    assert.deepEqual(regionOf({ iso_code: 'CA', names: 'California' })?.region, california)
    assert.deepEqual(regionOf({ names: 'Utah' })?.region, { code: 'US-Utah', name: 'Utah' })
    assert.equal(regionOf({ iso_code: 'CA' })?.region, undefined)
    assert.equal(regionOf({ names: 'Utah' })?.district, 'County')
  })

  it('gives counties of Norway the codes of 2024', () => {
    const subdivisions = [{ iso_code: '02', names: 'Akershus' }]
    const { place } = read({ country: { iso_code: 'NO' }, subdivisions })
    assert.deepEqual(place?.region, { code: 'NO-32', name: 'Akershus' })
  })

  it('reads the network at the top of its own files and under traits in others', () => {
    const fields = { autonomous_system_number: 7, isp: 'Isp', domain: 'a.example' }
    const expected = { asn: 'AS7', organization: 'Isp', domain: 'a.example' }
    for (const record of [fields, { traits: fields }]) {
      const { json, ...owner } = read(record).network ?? {}
      assert.deepEqual(owner, expected)
      assert.deepEqual(JSON.parse(json ?? ''), expected)
    }
  })

  it('reads numbers that are spelled as text', () => {
    const { place } = read({
      country: { iso_code: 'GB' },
      city: { names: 'York' },
      location: { latitude: '53.9', longitude: '-1.08', accuracy_radius: '5' },
    })
    assert.deepEqual(place?.coordinates, { latitude: 53.9, longitude: -1.08, accuracyRadius: 3 })
  })
})

const odd = [1, true, 'text', '', 2n ** 70n, [], {}, [[]], Buffer.from('x'), Number.NaN] as const
const good = { country: { iso_code: 'GB' }, country_code: 'GB', city: 'London' }

/** The keys that the schema reads in a record with a place, and in an empty one. */
function keysOf(schema: Schema): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const record of [good, {}]) {
    const get = (of: DecodedMap, key: string) => {
      keys.add(key)
      return of[key]
    }
    const has = (of: DecodedMap, key: string) => {
      keys.add(key)
      return key in of
    }
    schema.read(new Proxy<DecodedMap>(record, { get, has }), () => undefined)
  }
  return keys
}

for (const schema of SCHEMAS.filter(({ privacy }) => privacy === undefined)) {
  describe(`the schema ${schema.name}`, () => {
    it('accepts any value under any key', () => {
      const keys = keysOf(schema)
      assert.ok(keys.size > 2)
      for (const value of odd) {
        for (const key of keys) {
          const { place, network } = schema.read({ ...good, [key]: value }, () => undefined)
          JSON.parse(`{${place?.json.city ?? ''}}`)
          JSON.parse(network?.json ?? '{}')
        }
      }
    })

    it('finds nothing in an empty record', () => {
      const found = schema.read({}, () => undefined)
      assert.deepEqual(found, { place: undefined, network: undefined })
    })
  })
}

describe('a flat City file', () => {
  it('rounds its 32-bit floats and finds the code of its region', () => {
    const { place } = flatCity.read(
      {
        ...flatRecord,
        latitude: Math.fround(51.5085),
        longitude: Math.fround(-0.1257),
        postcode: '',
        state2: 'Greater London',
        timezone: 'Europe/London',
      },
      (country, name) => (country === 'GB' && name === 'England' ? 'GB-ENG' : undefined),
    )
    assert.deepEqual(place?.coordinates, { latitude: 51.5085, longitude: -0.1257 })
    assert.deepEqual(place?.region, { code: 'GB-ENG', name: 'England' })
    assert.deepEqual(place?.continent, { code: 'EU', name: 'Europe' })
    const { district, postalCode, timezone } = place ?? {}
    assert.deepEqual([district, postalCode], ['Greater London', undefined])
    assert.equal(timezone, 'Europe/London')
  })
})

describe('the IPinfo schema', () => {
  it('reads the Lite file', () => {
    const { place, network } = ipinfo.read(
      { ...liteRecord, country: 'United Kingdom', continent: 'Europe', as_domain: 'one.example' },
      () => undefined,
    )
    assert.deepEqual(place?.country, { code: 'GB', name: 'United Kingdom' })
    assert.deepEqual(place?.continent, { code: 'EU', name: 'Europe' })
    assert.equal(network?.json, '{"asn":"AS1","organization":"One","domain":"one.example"}')
  })

  it('reads its predecessor', () => {
    const continent = { continent: 'EU', continent_name: 'Europe' }
    const record = { country: 'GB', country_name: 'Britain', ...continent }
    const { place } = ipinfo.read(record, () => undefined)
    assert.deepEqual(place?.country, { code: 'GB', name: 'Britain' })
    assert.deepEqual(place?.continent, { code: 'EU', name: 'Europe' })
  })
})
