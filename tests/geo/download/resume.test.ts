import assert from 'node:assert/strict'
import { mkdirSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { findLastDownload, noteDownload } from '../../../lib/geo/download/last-download.ts'
import { OPTIONAL } from '../../../lib/geo/files/source-files.ts'
import { ON_LINUX } from '../../support/runtime.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import {
  april,
  CITY,
  CITY_ARCHIVE,
  DBIP,
  MARCH_TIME,
  march,
  maxmindTar,
  openProviders,
} from './providers.ts'

const NOW = Date.UTC(2026, 10, 21)
const at = freshly(openProviders)

/** Serves the version with this ETag, and interrupts its download. */
async function interruptCity(etag: string): Promise<void> {
  at.serveTar(CITY, { bytes: maxmindTar(march), etag })
  await at.interrupt()
}

describe('an interrupted download', () => {
  it('resumes where it stopped', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"', lastModified: MARCH_TIME })
    assert.match(await at.interrupt(), /^Cannot download .*; try again to resume$/)
    const { size } = statSync(at.inGeo(CITY_ARCHIVE))
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    const [request, ...more] = at.requestsFor(CITY)
    assert.equal(request?.headers.range, `bytes=${size}-`)
    assert.equal(request?.headers['if-range'], '"city"')
    assert.deepEqual(more, [])
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
    assert.equal(statSync(at.inGeo(OPTIONAL.downloadedMaxmindCity)).mtimeMs, Date.parse(MARCH_TIME))
    assert.deepEqual(at.leftovers(), [])
  })

  it('says what to do if the disk is full', ON_LINUX, async () => {
    at.serveAll()
    mkdirSync(at.geo, { recursive: true })
    symlinkSync('/dev/full', at.inGeo(CITY_ARCHIVE))
    const outcome = await at.outcome('GeoLite2 City')
    assert.match(outcome, /^Cannot write .*: ENOSPC: .*; \d+\.\d [MG]B are free on the disk of /)
  })

  it('resumes by the time of the file if the ETag is weak or missing', async () => {
    for (const version of [{ etag: 'W/"city"' }, {}]) {
      at.serveTar(CITY, { bytes: maxmindTar(march), lastModified: MARCH_TIME, ...version })
      await at.interrupt()
      assert.equal(await at.outcome('GeoLite2 City'), 'installed')
      const [request, ...more] = at.requestsFor(CITY)
      assert.equal(request?.headers['if-range'], MARCH_TIME)
      assert.deepEqual(more, [])
      rmSync(at.inGeo(OPTIONAL.downloadedMaxmindCity))
    }
  })

  it('starts over if the server sends neither an ETag nor a time', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march) })
    await at.interrupt()
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    const ranges = at.requestsFor(CITY).map(({ headers }) => headers.range)
    assert.deepEqual(ranges, [undefined])
  })

  it('starts over if the file has changed', async () => {
    await interruptCity('"old"')
    at.serveTar(CITY, { bytes: maxmindTar(april), etag: '"new"' })
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.requestsFor(CITY)[0]?.headers['if-range'], '"old"')
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('starts over if the server sends a part of another version', async () => {
    await interruptCity('"old"')
    at.serveTar(CITY, { bytes: maxmindTar(april), etag: '"new"' })
    at.server.intercept = ({ headers }) => {
      delete headers['if-range']
      return false
    }
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    const haveRange = at.requestsFor(CITY).map(({ headers }) => headers.range !== undefined)
    assert.deepEqual(haveRange, [true, false])
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('starts over if the file on disk is longer than that of the server', async () => {
    await interruptCity('"city"')
    truncateSync(at.inGeo(CITY_ARCHIVE), 10_000_000)
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.requestsFor(CITY).length, 2)
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
  })

  it('starts over if the record of the download is lost', async () => {
    await interruptCity('"city"')
    writeFileSync(at.inGeo(`${CITY_ARCHIVE}.json`), '{"url":')
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.requestsFor(CITY)[0]?.headers.range, undefined)
  })

  it('resumes after the server stopped sending', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"' })
    at.server.silentAfter = 50_000
    const outcome = await at.outcome('GeoLite2 City', { idleMs: 3_000 })
    assert.match(outcome, /: no data arrived for 3 s; try again to resume$/)
    at.server.silentAfter = Number.POSITIVE_INFINITY
    const { size } = statSync(at.inGeo(CITY_ARCHIVE))
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.requestsFor(CITY).at(-1)?.headers.range, `bytes=${size}-`)
  })

  it('names the URL if the server never answered', async () => {
    at.server.intercept = ({ url }) => url === DBIP
    const outcome = await at.outcome('DB-IP City Lite', { idleMs: 100 })
    assert.match(outcome, /^Cannot download .*: no data arrived for 0\.1 s; try again$/)
  })
})

describe('the last download', () => {
  const folder = tempFolder()

  it('is remembered by the next process', async () => {
    assert.equal(findLastDownload(folder, NOW), 0)
    await noteDownload(folder, NOW - 1_000)
    assert.equal(findLastDownload(folder, NOW), NOW - 1_000)
  })

  it('is ignored if its time is in the future or unreadable', async () => {
    await noteDownload(folder, NOW + 1_000)
    assert.equal(findLastDownload(folder, NOW), 0)
    const other = tempFolder()
    writeFileSync(join(other, 'downloads.json'), '{')
    assert.equal(findLastDownload(other, NOW), 0)
  })
})
