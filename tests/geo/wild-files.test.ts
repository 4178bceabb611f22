import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { openDatabase } from '../../lib/geo/database.ts'
import { operatorFiles } from '../../lib/geo/files/source-files.ts'
import { findGeofeeds } from '../../lib/geo/geofeeds/find-geofeeds.ts'
import { readRegistryObjects } from '../../lib/geo/geofeeds/registry-objects.ts'
import { openMmdb } from '../../lib/geo/mmdb/mmdb.ts'
import type { MmdbValue } from '../../lib/geo/mmdb/value.ts'
import { LEVEL } from '../../lib/geo/place/finding.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import { networkText } from '../../lib/parts/net/network.ts'
import { mmdbBytes } from '../support/geo-files.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
let count = 0

async function placeIn(record: Readonly<Record<string, MmdbValue>>) {
  const path = join(folder, `${count++}.mmdb`)
  writeFileSync(path, mmdbBytes({ '81.2.69.0/24': record }))
  const options = { map: false, cacheBits: 8, regionCode: () => undefined }
  const { find } = await openDatabase(path, options)
  const address = parseAddress('81.2.69.7')
  assert.ok(address)
  return find(address).place
}

const EUROPE = { code: 'EU', names: { en: 'Europe' } }
const countryRecord = (code: string) => ({
  continent: EUROPE,
  country: { iso_code: code, names: { en: 'As written' } },
  subdivisions: [{ iso_code: 'X', names: { en: 'X' } }],
})

describe('country codes that ISO 3166-1 does not have', () => {
  const successors = { UK: 'GB', EL: 'GR', FX: 'FR', TP: 'TL', BU: 'MM', ZR: 'CD', DD: 'DE' }
  for (const [code, expected] of Object.entries(successors)) {
    it(`are replaced by their successor: ${code}`, async () => {
      const place = await placeIn(countryRecord(code))
      assert.deepEqual([place?.country?.code, place?.region?.code], [expected, `${expected}-X`])
      assert.notEqual(place?.country?.name, 'As written')
    })
  }

  for (const code of ['EU', 'AP', 'XX', 'AN', 'SU', 'YU', 'CS', 'A1', 'ZZ', '-', 'gb', 'T1']) {
    it(`are left out otherwise, with their regions: ${code}`, async () => {
      const place = await placeIn(countryRecord(code))
      const found = [place?.country, place?.region, place?.continent?.code, place?.level]
      assert.deepEqual(found, [undefined, undefined, 'EU', LEVEL.continent])
    })
  }

  it('except XK', async () => {
    assert.equal((await placeIn(countryRecord('XK')))?.country?.code, 'XK')
  })
})

describe('a record', () => {
  it('knows nothing where it says "-", or 0,0', async () => {
    const place = await placeIn({
      country: { iso_code: 'GB' },
      city: { names: { en: '-' } },
      postal: { code: '-' },
      location: { latitude: 0, longitude: 0, time_zone: '-' },
    })
    const { city, postalCode, coordinates, timezone, level } = place ?? {}
    assert.deepEqual(
      [city, postalCode, coordinates, timezone],
      [undefined, undefined, undefined, undefined],
    )
    assert.equal(level, LEVEL.country)
  })

  it('does not inherit from its key __proto__', async () => {
    const hidden = { city: { names: { en: 'Hidden' } }, country: { iso_code: 'FR' } }
    const place = await placeIn({ country: { iso_code: 'GB' }, ['__proto__']: hidden })
    assert.deepEqual([place?.country?.code, place?.city], ['GB', undefined])
  })

  it('may have a text of more than 64 KB', async () => {
    const place = await placeIn({ country: { iso_code: 'GB' }, note: 'x'.repeat(100_000) })
    assert.equal(place?.country?.code, 'GB')
  })
})

describe('the metadata', () => {
  for (const length of [60_000, 100_000, 130_000]) {
    it(`may have a description of ${length} bytes: at most 128 KiB in all`, () => {
      const bytes = mmdbBytes({ '1.0.0.0/8': 'x' }, { description: 'd'.repeat(length) })
      assert.equal(openMmdb(bytes).metadata.description.length, length)
    })
  }
})

describe('a file that is not a database', () => {
  const files: readonly (readonly [name: string, bytes: Uint8Array | string, reason: RegExp])[] = [
    ['gzip', gzipSync('x'), /it is compressed with gzip; unpack it first/],
    ['ZIP', 'PK\u0003\u0004rest', /it is a ZIP archive/],
    [
      'Git LFS',
      'version https://git-lfs.github.com/spec/v1\noid sha256:0',
      /it is a Git LFS pointer/,
    ],
    ['a web page', '<!DOCTYPE html>\n<html><head>', /it is a web page/],
    ['another web page', '\n<html lang="en">', /it is a web page/],
    ['nothing', '', /it is empty/],
    ['anything else', 'anything', /the metadata marker is missing/],
  ]
  for (const [name, bytes, reason] of files) {
    it(`is called what it is: ${name}`, () =>
      assert.throws(() => openMmdb(Buffer.from(bytes)), reason))
  }

  it('is called a folder', async () => {
    const path = join(folder, 'databases')
    mkdirSync(path)
    const [file] = operatorFiles(join(folder, 'geo'), [path])
    await assert.rejects(
      file?.openPrivate(async () => {}) ?? Promise.resolve(),
      /it is a folder; name the files in it/,
    )
  })
})

describe('registry objects', () => {
  const FEED = 'geofeed: https://a.example/feed.csv'

  it('may be written short, as LACNIC does', () => {
    for (const [short, whole] of [
      ['10.8/16', '10.8.0.0/16'],
      ['200.7.84/23', '200.7.84.0/23'],
      ['10/8', '10.0.0.0/8'],
    ] as const) {
      const [feed] = readRegistryObjects(`inetnum: ${short}\n${FEED}\n`)
      const texts = feed?.blocks.map(({ address, prefix }) => networkText(address, prefix))
      assert.deepEqual(texts, [whole])
    }
  })

  it('are skipped and named one by one if they cannot be read', () => {
    const path = join(folder, 'whois.txt')
    const bad = ['1.2.3.4 - nonsense', '10.8.1/16', '300.1/16']
    const objects = [...bad, '192.0.2.0/24'].map((range) => `inetnum: ${range}\n${FEED}\n`)
    writeFileSync(path, objects.join('\n'))
    const skipped: string[] = []
    const [feed] = findGeofeeds([{ objects: path }], (problem) => skipped.push(problem))
    assert.equal(feed?.blocks.length, 1)
    assert.deepEqual(
      skipped.map((problem) => bad.some((range) => problem.includes(`"${range}"`))),
      [true, true, true],
    )
  })

  it('may continue a value on the next line: RFC 2622, section 2', () => {
    for (const start of [' ', '\t', '+', '+   ', '          ']) {
      const object = `inetnum: 192.0.2.0 -\n${start}192.0.2.255\ngeofeed:\r\n${start}https://a.example/feed.csv\n`
      const [feed] = readRegistryObjects(object)
      const texts = feed?.blocks.map(({ address, prefix }) => networkText(address, prefix))
      assert.deepEqual([feed?.source, texts], ['https://a.example/feed.csv', ['192.0.2.0/24']])
    }
  })

  it('say that http is not taken', () => {
    const path = join(folder, 'http.txt')
    for (const line of [
      'geofeed: http://a.example/f.csv',
      'remarks: Geofeed http://a.example/f.csv',
    ]) {
      writeFileSync(path, `inetnum: 192.0.2.0/24\n${line}\n`)
      assert.throws(() => findGeofeeds([{ objects: path }]), /only https is taken/)
    }
  })
})
