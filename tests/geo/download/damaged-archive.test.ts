import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { create } from 'tar'
import { OPTIONAL } from '../../../lib/geo/files/source-files.ts'
import { mmdbBytes } from '../../support/geo-files.ts'
import { freshly } from '../../support/scene/freshly.ts'
import {
  APRIL_TIME,
  CITY,
  DBIP,
  type Entries,
  march,
  maxmindTar,
  openProviders,
  tarOf,
} from './providers.ts'

const at = freshly(openProviders)

describe('a damaged archive', () => {
  it('is deleted if its checksum is wrong, and fetched whole the next time', async () => {
    at.serveAll()
    at.server.files.set(`${CITY}.sha256`, { bytes: Buffer.from(`${'0'.repeat(64)}  x\n`) })
    const reason = 'its SHA-256 differs from the published one; the archive was deleted, try again'
    assert.equal(await at.outcome('GeoLite2 City'), `Cannot use GeoLite2-City.tar.gz: ${reason}`)
    assert.equal(existsSync(at.inGeo(OPTIONAL.downloadedMaxmindCity)), false)
    assert.deepEqual(at.leftovers(), [])
    at.serveAll()
    at.server.requests.length = 0
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.requestsFor(CITY)[0]?.headers.range, undefined)
  })

  it('is not requested if the checksum is invalid', async () => {
    at.serveAll()
    at.server.files.set(`${CITY}.sha256`, { bytes: Buffer.from('<html>') })
    assert.match(await at.outcome('GeoLite2 City'), /: the answer is not a SHA-256$/)
    assert.deepEqual(at.requestsFor(CITY), [])
  })

  it('is refused for a single flipped byte in a gzip file', async () => {
    const zipped = gzipSync(march)
    const [crc, length] = [zipped.length - 8, zipped.length - 4]
    const reason = /^Cannot use dbip-city-lite\.mmdb\.gz: .*; the archive was deleted, try again$/
    for (const place of [1_000, zipped.length >> 1, crc, length]) {
      const bytes = Buffer.from(zipped)
      bytes.writeUInt8(bytes.readUInt8(place) ^ 1, place)
      at.server.files.set(DBIP, { bytes, etag: `"${place}"` })
      assert.match(await at.outcome('DB-IP City Lite'), reason, `byte ${place}`)
    }
    assert.deepEqual(readdirSync(at.geo), [])
  })

  it('is refused if its end is missing', async () => {
    at.server.files.set(DBIP, { bytes: gzipSync(march).subarray(0, -20) })
    assert.match(await at.outcome('DB-IP City Lite'), /unexpected end of file/)
    at.serveTar(CITY, { bytes: maxmindTar(march).subarray(0, -20) })
    assert.match(await at.outcome('GeoLite2 City'), /^Cannot use GeoLite2-City\.tar\.gz: /)
    assert.deepEqual(readdirSync(at.geo), [])
  })
})

describe('an archive without a usable database', () => {
  const archives: readonly (readonly [what: string, entries: Entries, reason: RegExp])[] = [
    ['a text file named .mmdb', { 'a/b.mmdb': 'text' }, /not a MaxMind DB/],
    ['no .mmdb file', { 'a/b.txt': 'text' }, /the archive holds 0 \.mmdb files instead of one/],
    ['two .mmdb files', { 'a/b.mmdb': march, 'a/c.mmdb': march }, /holds 2 \.mmdb files/],
    ['half a database', { 'a/b.mmdb': march.subarray(0, march.length >> 1) }, /not a MaxMind DB/],
  ]
  for (const [what, entries, reason] of archives) {
    it(`is refused if it holds ${what}`, async () => {
      at.serveAll()
      await at.download()
      at.serveTar(CITY, { bytes: tarOf(entries), etag: '"bad"', lastModified: APRIL_TIME })
      assert.match(await at.outcome('GeoLite2 City'), reason)
      assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
      assert.deepEqual(at.leftovers(), [])
    })
  }

  it('is refused if it is neither a tar file nor a gzip file', async () => {
    at.serveTar(CITY, { bytes: Buffer.from('<html>'.repeat(1_000)) })
    at.server.files.set(DBIP, { bytes: Buffer.from('<html>'.repeat(1_000)) })
    assert.match(await at.outcome('GeoLite2 City'), /^Cannot use GeoLite2-City\.tar\.gz: /)
    assert.match(await at.outcome('DB-IP City Lite'), /incorrect header check/)
    assert.deepEqual(readdirSync(at.geo), [])
  })

  it('is refused if its records have an unknown layout', async () => {
    const bytes = mmdbBytes({ '0.0.0.0/1': { colour: 'red' } }, { ipVersion: 4 })
    at.server.files.set(DBIP, { bytes: gzipSync(bytes) })
    assert.match(await at.outcome('DB-IP City Lite'), /records of an unknown layout/)
  })
})

describe('the path of a database inside an archive', () => {
  it('does not decide where the database is written', async () => {
    const evil = join(at.folder, 'evil.mmdb')
    const file = join(at.folder, 'evil.tar.gz')
    writeFileSync(evil, march)
    create({ file, gzip: true, sync: true, preservePaths: true }, [evil])
    rmSync(evil)
    at.serveTar(CITY, { bytes: readFileSync(file) })
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(existsSync(evil), false)
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
  })
})
