import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { RawPlace } from '../../../lib/geo/place.ts'
import { joined, says } from './fake-database.ts'

const country = (code: string): RawPlace => ({ country: { code } })
const england = { code: 'GB-ENG', name: 'England' }
const london: RawPlace = {
  country: { code: 'GB' },
  region: england,
  city: 'London',
  latitude: 51.5,
  longitude: -0.1,
  timezone: 'Europe/London',
}
const leeds: RawPlace = { ...london, city: 'Leeds', latitude: 53.8, longitude: -1.55 }
const edinburgh: RawPlace = {
  ...leeds,
  region: { code: 'GB-SCT', name: 'Scotland' },
  city: 'Edinburgh',
}

describe('the country', () => {
  it('is that of the first provider that has one', () => {
    const { place, placeSources, confidence } = joined(says('a', country('FR')), says('b', london))
    assert.equal(place?.country?.code, 'FR')
    assert.equal(place?.city, undefined)
    assert.deepEqual(placeSources, ['a'])
    assert.equal(confidence, 0)
  })

  it('is not that of a provider that knows a continent alone', () => {
    const asia = { continent: { code: 'AS' } }
    const { place, placeSources } = joined(says('a', asia), says('b', london))
    assert.equal(place?.country?.code, 'GB')
    assert.deepEqual(placeSources, ['b'])
  })

  it('may be missing, with a continent', () => {
    const { place, confidence } = joined(says('a'), says('b', { continent: { code: 'AS' } }))
    assert.deepEqual(place?.continent, { code: 'AS', name: 'Asia' })
    assert.equal(confidence, undefined)
  })

  it('is unknown where nobody knows the address', () => {
    const located = joined(says('a'), says('b'))
    assert.deepEqual(located, {
      place: undefined,
      confidence: undefined,
      timezone: undefined,
      network: undefined,
      placeSources: [],
      networkSources: [],
    })
  })
})

describe('finer fields', () => {
  it('come from the first provider that has them and agrees on the country', () => {
    const { place, placeSources, confidence } = joined(
      says('a', country('GB')),
      says('b', country('FR')),
      says('c', london),
      says('d', leeds),
    )
    assert.equal(place?.city, 'London')
    assert.deepEqual(placeSources, ['a', 'c'])
    assert.equal(confidence, 0)
  })

  it('come from a finer one under the region that was decided', () => {
    const first = says('a', { country: { code: 'GB' }, region: england })
    const { place, placeSources } = joined(first, says('b', edinburgh), says('c', leeds))
    assert.equal(place?.city, 'Leeds')
    assert.deepEqual(place?.region, england)
    assert.deepEqual(placeSources, ['a', 'c'])
  })

  it('never join the name of one town with the place of another', () => {
    const nameless = { country: { code: 'GB' }, region: england, city: 'London' }
    const { place, placeSources } = joined(says('a', nameless), says('b', leeds))
    assert.equal(place?.city, 'London')
    assert.equal(place?.coordinates, undefined)
    assert.deepEqual(placeSources, ['a'])
  })

  it('are completed by those who name the same city, however they spell it', () => {
    const zurich = { country: { code: 'CH' }, city: 'Zürich' }
    const other = { ...zurich, city: 'ZURICH', postalCode: '8001', latitude: 47.4, longitude: 8.5 }
    const { place, placeSources } = joined(says('a', zurich), says('b', other))
    assert.equal(place?.city, 'Zürich')
    assert.equal(place?.postalCode, '8001')
    assert.deepEqual(place?.coordinates, { latitude: 47.4, longitude: 8.5 })
    assert.match(place?.json.city ?? '', /"postalCode":"8001","coordinates":/)
    assert.deepEqual(placeSources, ['a', 'b'])
  })

  it('of a provider that adds nothing do not make it a source', () => {
    const { placeSources, confidence } = joined(says('a', london), says('b', london))
    assert.deepEqual(placeSources, ['a'])
    assert.equal(confidence, 1)
  })
})

describe('the confidence', () => {
  it('needs two different providers', () => {
    assert.equal(joined(says('a', london)).confidence, undefined)
    assert.equal(joined(says('a', london), says('a', london)).confidence, undefined)
    assert.equal(joined(says('a', london), says('a', leeds), says('b', london)).confidence, 1)
  })
})

describe('the timezone', () => {
  const berlin = { latitude: 52.52, longitude: 13.4, city: 'Berlin', country: { code: 'DE' } }

  it('is that of the finest record, and names its provider', () => {
    const first = says('a', { ...country('GB'), timezone: 'Europe/Jersey' })
    assert.deepEqual(joined(first, says('b', london)).timezone, {
      name: 'Europe/London',
      source: 'b',
    })
  })

  it('is else that of the coordinates of a city', () => {
    const name = 'Europe/Berlin'
    assert.deepEqual(joined(says('a', berlin)).timezone, { name, source: 'coordinates' })
  })

  it('is not taken from the middle of a country', () => {
    const usa = { country: { code: 'US' }, latitude: 37.75, longitude: -97.8 }
    assert.equal(joined(says('a', usa)).timezone, undefined)
  })

  it('is else that of the country, if it has one alone', () => {
    assert.deepEqual(joined(says('a', country('JP'))).timezone, {
      name: 'Asia/Tokyo',
      source: 'country',
    })
  })

  it('is not what is no name of a zone', () => {
    for (const timezone of ['', 'a b', '../etc/passwd', 'Europe/"', 'Europe/']) {
      const zone = joined(says('a', { ...country('US'), timezone })).timezone
      assert.equal(zone, undefined, timezone)
    }
  })
})

describe('the network', () => {
  it('is that of the first, with what it lacks from others of the same number', () => {
    const { network, networkSources } = joined(
      says('a', undefined, { asn: 1, organization: 'One' }),
      says('b', undefined, { asn: 'AS2', domain: 'two.example' }),
      says('c', undefined, { asn: 'AS1', organization: 'Other', domain: 'one.example' }),
      says('d', undefined, { asn: 1, domain: 'late.example' }),
    )
    assert.equal(network?.json, '{"asn":"AS1","organization":"One","domain":"one.example"}')
    assert.deepEqual(networkSources, ['a', 'c'])
  })

  it('is nobody for AS0 and for nonsense', () => {
    for (const asn of [0, 'AS0', 'AS', 'ASAS1', '', -1, 1.5, 'AS12345678901']) {
      assert.equal(joined(says('a', undefined, { asn })).network, undefined, String(asn))
    }
    assert.equal(joined(says('a', undefined, { asn: '0064512' })).network?.asn, 'AS64512')
  })

  it('is told where the place is not known', () => {
    const { place, network } = joined(says('a', undefined, { organization: 'One' }))
    assert.deepEqual([place, network?.organization], [undefined, 'One'])
  })
})
