import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { locate } from '../../../lib/geo/answer/locate.ts'
import { writeResult } from '../../../lib/geo/answer/write-result.ts'
import type { GeoDatabase } from '../../../lib/geo/database.ts'
import { compileGeofeeds } from '../../../lib/geo/geofeeds/compile-geofeeds.ts'
import { readGeofeed } from '../../../lib/geo/geofeeds/read-geofeed.ts'
import { compileOverlay } from '../../../lib/geo/overlay/overlay.ts'
import { addressOf, networkOf } from '../../support/networks.ts'
import { openBytes, openRecords } from '../open-file.ts'

const BUILT_AT = Date.UTC(2026, 10, 25)
const options = { builtAt: BUILT_AT, regionNames: { 'DE-BE': 'State of Berlin' } }

/** A feed: its blocks, separated by spaces, and its lines. */
type Feed = readonly [blocks: string, ...lines: string[]]

function compile(...feeds: readonly Feed[]): Promise<GeoDatabase> {
  const read = feeds.map(([texts, ...lines]) => {
    const blocks = texts.split(' ').map(networkOf)
    const { entries } = readGeofeed(Buffer.from(lines.join('\n')), blocks)
    return { blocks, entries }
  })
  return openBytes(compileGeofeeds(read, options))
}

function answer(databases: readonly GeoDatabase[], text: string) {
  const address = addressOf(text)
  const located = locate(databases, address)
  const { json, precision } = writeResult(address, located, { now: BUILT_AT, degraded: false })
  return { ...JSON.parse(`{${json}}`), precision }
}

const cityOf = (database: GeoDatabase, text: string) => answer([database], text).location?.city

const BERLIN = {
  country: { iso_code: 'DE', names: { en: 'Germany' } },
  subdivisions: [{ iso_code: 'BE', names: { en: 'State of Berlin' } }],
  city: { names: { en: 'Berlin' } },
  location: { latitude: 52.5, longitude: 13.4, accuracy_radius: 10 },
  traits: { autonomous_system_number: 64_500 },
}
const maxmind = () => openRecords({ '192.0.2.0/24': BERLIN }, 'GeoLite2-City')

describe('a compiled geofeed', () => {
  it('answers with the country, region and city of an entry', async () => {
    const database = await compile(['192.0.2.0/24', '192.0.2.0/24,DE,DE-BE,Berlin,10115'])
    assert.deepEqual(answer([database], '192.0.2.1'), {
      query: { type: 'ip', value: '192.0.2.1', ipVersion: 4 },
      location: {
        continent: { code: 'EU', name: 'Europe' },
        country: { code: 'DE', name: 'Germany', flag: '🇩🇪', unions: ['EU', 'EEA'] },
        region: { code: 'DE-BE', name: 'State of Berlin' },
        city: 'Berlin',
        utcOffset: '+01:00',
      },
      sources: { geo: ['geofeed'], tz: ['country'] },
      precision: 'city',
    })
    assert.deepEqual([database.provider, database.subject], ['geofeed', 'place'])
    assert.equal(database.metadata.builtAt, BUILT_AT)
  })

  it('keeps the code of a region whose name is unknown', async () => {
    const database = await compile(['192.0.2.0/24', '192.0.2.0/24,DE,DE-XX,Berlin'])
    const { location, precision } = answer([database], '192.0.2.1')
    const region = { code: 'DE-XX', name: 'DE-XX' }
    assert.deepEqual([location.region, location.city, precision], [region, 'Berlin', 'city'])
  })

  it('answers with the narrowest entry, whatever the order of the lines', async () => {
    const database = await compile([
      '192.0.0.0/16 2001:db8::/32',
      '192.0.2.5,DE,,Host',
      '192.0.2.0/24,DE,,Narrow',
      '192.0.0.0/16,DE,,Broad',
      '2001:db8:1::/48,DE,,Six',
    ])
    const asked = ['192.0.2.5', '192.0.2.6', '192.0.3.0', '2001:db8:1::9', '2001:db8:2::']
    const cities = asked.map((text) => cityOf(database, text))
    assert.deepEqual(cities, ['Host', 'Narrow', 'Broad', 'Six', undefined])
    assert.equal(cityOf(database, '::ffff:192.0.2.5'), 'Host')
  })

  it('does not answer IPv4 addresses with an IPv6 entry', async () => {
    const database = await compile(['::/0', '::/0,DE,,Six'], ['10.0.0.0/8', '10.0.0.0/9,DE,,Four'])
    assert.equal(cityOf(database, '2001:db8::1'), 'Six')
    assert.equal(cityOf(database, '10.0.0.1'), 'Four')
    assert.equal(cityOf(database, '10.200.0.1'), undefined)
    assert.equal(cityOf(database, '11.0.0.1'), undefined)
  })

  it('counts in a block only if no other feed has a narrower one', async () => {
    const database = await compile(
      ['10.0.0.0/8 10.1.2.0/24', '10.0.0.0/8,DE,,A', '10.1.1.0/24,DE,,A1', '10.1.2.8/32,DE,,A2'],
      ['10.1.0.0/16', '10.1.128.0/17,DE,,B'],
    )
    assert.equal(cityOf(database, '10.2.0.0'), 'A')
    // In the block of B, which says nothing about these
    assert.equal(cityOf(database, '10.1.0.0'), undefined)
    assert.equal(cityOf(database, '10.1.1.1'), undefined)
    assert.equal(cityOf(database, '10.1.128.0'), 'B')
    // In the narrower block of A
    assert.equal(cityOf(database, '10.1.2.8'), 'A2')
    assert.equal(cityOf(database, '10.1.2.9'), 'A')
  })
})

describe('a geofeed before a database', () => {
  it('decides, and the database fills gaps and confirms where the two agree', async () => {
    const geofeed = await compile(['192.0.2.0/24', '192.0.2.0/25,de,,BERLIN', '192.0.2.128/25,FR'])
    const databases = [geofeed, await maxmind()]
    const agreed = answer(databases, '192.0.2.1')
    assert.equal(agreed.location.city, 'BERLIN')
    assert.deepEqual(agreed.location.coordinates.latitude, 52.5)
    assert.equal(agreed.location.geoConfidence, 1)
    assert.deepEqual(agreed.sources.geo, ['geofeed', 'maxmind'])
    const other = answer(databases, '192.0.2.128')
    assert.equal(other.location.country.code, 'FR')
    assert.deepEqual([other.location.city, other.precision], [undefined, 'country'])
    assert.deepEqual(other.sources, { geo: ['geofeed'], asn: ['maxmind'] })
  })

  it('withholds the place of a network without a location, but not its owner', async () => {
    const geofeed = await compile(['192.0.2.0/24', '192.0.2.0/25,,,,', '192.0.2.0/26,ZZ,,,'])
    const withheld = {
      query: { type: 'ip', value: '192.0.2.1', ipVersion: 4 },
      network: { asn: 'AS64500' },
      sources: { asn: ['maxmind'] },
      precision: 'none',
    }
    const databases = [geofeed, await maxmind()]
    assert.deepEqual(answer(databases, '192.0.2.1'), withheld)
    assert.equal(answer(databases, '192.0.2.128').location.city, 'Berlin')
  })

  it('does not withhold what the overlay states', async () => {
    const overlay = await openBytes(compileOverlay('192.0.2.0/24,country=US', options))
    const geofeed = await compile(['192.0.2.0/24', '192.0.2.0/24,,,,'])
    const { location, sources } = answer([overlay, geofeed, await maxmind()], '192.0.2.1')
    assert.equal(location.country.code, 'US')
    assert.deepEqual(sources.geo, ['overlay'])
  })
})
