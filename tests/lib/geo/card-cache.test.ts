import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CardCache } from '../../../lib/geo/card-cache.ts'
import { asMap } from '../../../lib/geo/fields.ts'
import { type Finding, NOTHING } from '../../../lib/geo/finding.ts'
import { openMmdb } from '../../../lib/geo/mmdb.ts'
import { toNetworkOwner } from '../../../lib/geo/network-owner.ts'
import { toPlace } from '../../../lib/geo/place.ts'
import { chooseSchema } from '../../../lib/geo/schemas/choose.ts'
import * as fixtures from '../../geo-files.ts'

const name = fc.option(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), {
  nil: undefined,
})
const code = fc.constantFrom('GB', 'DE', 'US', undefined)
const named = fc.record({ code, name })
const region = fc.option(fc.record({ code: fc.string({ minLength: 1 }), name: fc.string() }), {
  nil: undefined,
})
const degrees = fc.oneof(fc.double({ min: -90, max: 90, noNaN: true }), fc.constant(undefined))
const finding = fc
  .record({
    place: fc.record({
      continent: named,
      country: named,
      region,
      district: name,
      city: name,
      postalCode: name,
      latitude: degrees,
      longitude: degrees,
      radiusKm: fc.oneof(fc.double({ min: -1, noNaN: true }), fc.constant(undefined)),
      timezone: fc.constantFrom('Europe/London', 'UTC', undefined),
    }),
    network: fc.record({ asn: fc.oneof(fc.nat(), fc.constant(undefined)), organization: name }),
  })
  .map(({ place, network }): Finding => {
    return { place: toPlace(place), network: toNetworkOwner(network) }
  })

const inLondon = (district: string): Finding => ({
  place: toPlace({ country: { code: 'GB' }, district, city: 'London' }),
  network: undefined,
})

describe('a card cache', () => {
  const files: readonly (readonly [string, fixtures.Records])[] = [
    ['City', fixtures.CITY_RECORDS],
    ['DB-IP', fixtures.DBIP_RECORDS],
    ['ASN', fixtures.ASN_RECORDS],
    ['IPinfo', fixtures.IPINFO_RECORDS],
  ]
  for (const [title, records] of files) {
    it(`gives every record of the ${title} file as it was decoded`, () => {
      const mmdb = openMmdb(fixtures.mmdbBytes(records))
      const schema = chooseSchema(mmdb)
      const cache = new CardCache(4)
      for (const offset of mmdb.offsets(Number.POSITIVE_INFINITY)) {
        const decoded = schema.read(asMap(mmdb.decode(offset)), () => undefined)
        cache.put(offset, decoded)
        assert.deepEqual(cache.get(offset), decoded)
      }
    })
  }

  it('gives what it keeps as it was, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(finding), (findings) => {
        const cache = new CardCache(2)
        for (const [at, one] of findings.entries()) {
          cache.put(at + 1, one)
          const known = cache.get(at + 1)
          if (known !== undefined || textLength(one) <= 200) assert.deepEqual(known, one)
        }
      }),
    )
  })

  it('never gives the finding of another offset', () => {
    const cache = new CardCache(1)
    for (let offset = 1; offset < 50; offset++) cache.put(offset, inLondon(`district ${offset}`))
    const kept = Array.from({ length: 50 }, (_, at) => [at + 1, cache.get(at + 1)] as const)
    for (const [offset, known] of kept) {
      if (known !== undefined) assert.deepEqual(known, inLondon(`district ${offset}`))
    }
    assert.equal(kept.filter(([, known]) => known !== undefined).length, 2)
  })

  it('keeps that a record says nothing', () => {
    const cache = new CardCache(1)
    assert.equal(cache.get(7), undefined)
    cache.put(7, NOTHING)
    assert.deepEqual(cache.get(7), NOTHING)
  })

  it('does not keep what is too long for a card, nor what stood in its slot', () => {
    const cache = new CardCache(1)
    cache.put(7, inLondon('Camden'))
    cache.put(7, inLondon('x'.repeat(200)))
    assert.equal(cache.get(7), undefined)
  })

  it('does not keep the 65,536th region', () => {
    const cache = new CardCache(1)
    const regionOf = (n: number): Finding => ({
      place: toPlace({ country: { code: 'GB' }, region: { code: `GB-${n}`, name: 'Region' } }),
      network: undefined,
    })
    for (let n = 1; n <= 0xffff; n++) cache.put(7, regionOf(n))
    assert.deepEqual(cache.get(7), regionOf(0xffff))
    cache.put(7, regionOf(0x10000))
    assert.equal(cache.get(7), undefined)
    cache.put(7, regionOf(1))
    assert.deepEqual(cache.get(7), regionOf(1))
  })
})

function textLength({ place, network }: Finding): number {
  return (place?.json.city.length ?? 0) + (network?.json.length ?? 0)
}
