import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { a, b, c, d, locateIn, NOWHERE } from '../fake-database.ts'
import { country, edinburgh, england, leeds, london } from '../places.ts'

describe('the country', () => {
  it('is that of the first provider that has one', () => {
    const { place, placeSources, confidence } = locateIn(a(country('FR')), b(london))
    assert.equal(place?.country?.code, 'FR')
    assert.equal(place?.city, undefined)
    assert.deepEqual(placeSources, ['a'])
    assert.equal(confidence, 0)
  })

  it('is not that of a provider that knows only a continent', () => {
    const asia = { continent: { code: 'AS' } }
    const { place, placeSources } = locateIn(a(asia), b(london))
    assert.equal(place?.country?.code, 'GB')
    assert.deepEqual(placeSources, ['b'])
  })

  it('may be missing while the continent is known', () => {
    const { place, confidence } = locateIn(a(), b({ continent: { code: 'AS' } }))
    assert.deepEqual(place?.continent, { code: 'AS', name: 'Asia' })
    assert.equal(confidence, undefined)
  })

  it('is unknown if no provider knows the address', () => {
    assert.deepEqual(locateIn(a(), b()), NOWHERE)
  })
})

describe('finer fields', () => {
  it('come from the first provider that has them and agrees on the country', () => {
    const { place, placeSources, confidence } = locateIn(
      a(country('GB')),
      b(country('FR')),
      c(london),
      d(leeds),
    )
    assert.equal(place?.city, 'London')
    assert.deepEqual(placeSources, ['a', 'c'])
    assert.equal(confidence, 0)
  })

  it('come from a finer record in the same region', () => {
    const first = a({ country: { code: 'GB' }, region: england })
    const { place, placeSources } = locateIn(first, b(edinburgh), c(leeds))
    assert.equal(place?.city, 'Leeds')
    assert.deepEqual(place?.region, england)
    assert.deepEqual(placeSources, ['a', 'c', 'b'], 'b confirms the country')
  })

  it('never join the name of one town with the coordinates of another', () => {
    const nameless = { country: { code: 'GB' }, region: england, city: 'London' }
    const { place, placeSources } = locateIn(a(nameless), b(leeds))
    assert.equal(place?.city, 'London')
    assert.equal(place?.coordinates, undefined)
    assert.deepEqual(placeSources, ['a', 'b'], 'b confirms the region')
  })

  it('are completed by providers that name the same city, however they spell it', () => {
    const zurich = { country: { code: 'CH' }, city: 'Zürich' }
    const other = { ...zurich, city: 'ZURICH', postalCode: '8001', latitude: 47.4, longitude: 8.5 }
    const { place, placeSources } = locateIn(a(zurich), b(other))
    assert.equal(place?.city, 'Zürich')
    assert.equal(place?.postalCode, '8001')
    assert.deepEqual(place?.coordinates, { latitude: 47.4, longitude: 8.5 })
    assert.match(place?.json.city ?? '', /"postalCode":"8001","coordinates":/)
    assert.deepEqual(placeSources, ['a', 'b'])
  })
})

describe('the confidence', () => {
  it('needs two different providers', () => {
    assert.equal(locateIn(a(london)).confidence, undefined)
    assert.equal(locateIn(a(london), a(london)).confidence, undefined)
    assert.equal(locateIn(a(london), a(leeds), b(london)).confidence, 1)
  })
})

describe('the sources', () => {
  it('name last the provider that confirms the place, even if it adds nothing', () => {
    const [same, near] = [london, country('GB')].map((other) => locateIn(a(london), b(other)))
    assert.deepEqual([same?.confidence, near?.confidence], [1, 0.5])
    assert.deepEqual(
      [same?.placeSources, near?.placeSources],
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    )
  })

  it('do not name a provider that contradicts', () => {
    const { placeSources, confidence } = locateIn(a(london), b(country('FR')))
    assert.equal(confidence, 0)
    assert.deepEqual(placeSources, ['a'])
  })
})

describe('the timezone', () => {
  const berlin = { latitude: 52.52, longitude: 13.4, city: 'Berlin', country: { code: 'DE' } }

  it('is that of the finest record, and names its provider', () => {
    const first = a({ ...country('GB'), timezone: 'Europe/Jersey' })
    const timezone = { name: 'Europe/London', source: 'b' }
    assert.deepEqual(locateIn(first, b(london)).timezone, timezone)
  })

  it('is the one at the coordinates of a city if no record names a timezone', () => {
    const name = 'Europe/Berlin'
    assert.deepEqual(locateIn(a(berlin)).timezone, { name, source: 'coordinates' })
  })

  it('is not the one at the centre of a country', () => {
    const usa = { country: { code: 'US' }, latitude: 37.75, longitude: -97.8 }
    assert.equal(locateIn(a(usa)).timezone, undefined)
  })

  it('is that of the country if only the country is known and has a single timezone', () => {
    const timezone = { name: 'Asia/Tokyo', source: 'country' }
    assert.deepEqual(locateIn(a(country('JP'))).timezone, timezone)
  })

  it('is never a text that is not the name of a zone', () => {
    for (const timezone of ['', 'a b', '../etc/passwd', 'Europe/"', 'Europe/']) {
      const zone = locateIn(a({ ...country('US'), timezone })).timezone
      assert.equal(zone, undefined, timezone)
    }
  })
})

describe('the network', () => {
  it('is that of the first provider, completed by others with the same number', () => {
    const { network, networkSources } = locateIn(
      a(undefined, { asn: 1, organization: 'One' }),
      b(undefined, { asn: 'AS2', domain: 'two.example' }),
      c(undefined, { asn: 'AS1', organization: 'Other', domain: 'one.example' }),
      d(undefined, { asn: 1, domain: 'late.example' }),
    )
    assert.equal(network?.json, '{"asn":"AS1","organization":"One","domain":"one.example"}')
    assert.deepEqual(networkSources, ['a', 'c'])
  })

  it('is unknown for AS0 and for invalid numbers', () => {
    for (const asn of [0, 'AS0', 'AS', 'ASAS1', '', -1, 1.5, 'AS12345678901']) {
      assert.equal(locateIn(a(undefined, { asn })).network, undefined, String(asn))
    }
    assert.equal(locateIn(a(undefined, { asn: '0064512' })).network?.asn, 'AS64512')
  })

  it('is known even if the place is not', () => {
    const { place, network } = locateIn(a(undefined, { organization: 'One' }))
    assert.deepEqual([place, network?.organization], [undefined, 'One'])
  })
})
