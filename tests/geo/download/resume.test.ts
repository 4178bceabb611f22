import assert from 'node:assert/strict'
import { rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { OPTIONAL } from '../../../lib/geo/source-files.ts'
import {
  april,
  CITY,
  CITY_ARCHIVE,
  DBIP,
  MARCH_TIME,
  march,
  maxmindTar,
  openProviders,
  type Providers,
} from './download-fixture.ts'

let at: Providers
beforeEach(async () => {
  at = await openProviders()
})
afterEach(() => at[Symbol.asyncDispose]())

describe('an interrupted download', () => {
  it('is continued where it was', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"', lastModified: MARCH_TIME })
    assert.match(await at.interrupt(), /^Cannot download .*; run it again, and it continues$/)
    const { size } = statSync(at.inGeo(CITY_ARCHIVE))
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    const [asked, ...more] = at.askedFor(CITY)
    assert.equal(asked?.headers.range, `bytes=${size}-`)
    assert.equal(asked?.headers['if-range'], '"city"')
    assert.deepEqual(more, [])
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
    assert.equal(statSync(at.inGeo(OPTIONAL.downloadedMaxmindCity)).mtimeMs, Date.parse(MARCH_TIME))
    assert.deepEqual(at.leftovers(), [])
  })

  it('is continued by the time of the file where the ETag is weak or missing', async () => {
    for (const version of [{ etag: 'W/"city"' }, {}]) {
      at.serveTar(CITY, { bytes: maxmindTar(march), lastModified: MARCH_TIME, ...version })
      await at.interrupt()
      assert.equal(await at.outcome('GeoLite2 City'), 'installed')
      const [asked, ...more] = at.askedFor(CITY)
      assert.equal(asked?.headers['if-range'], MARCH_TIME)
      assert.deepEqual(more, [])
      rmSync(at.inGeo(OPTIONAL.downloadedMaxmindCity))
    }
  })

  it('starts over where the server has neither', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march) })
    await at.interrupt()
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.deepEqual(
      at.askedFor(CITY).map(({ headers }) => headers.range),
      [undefined],
    )
  })

  it('starts over where the file has changed', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"old"' })
    await at.interrupt()
    at.serveTar(CITY, { bytes: maxmindTar(april), etag: '"new"' })
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.askedFor(CITY)[0]?.headers['if-range'], '"old"')
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('starts over where the server sends a part of another version', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"old"' })
    await at.interrupt()
    at.serveTar(CITY, { bytes: maxmindTar(april), etag: '"new"' })
    at.server.intercept = ({ headers }) => {
      delete headers['if-range']
      return false
    }
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.deepEqual(
      at.askedFor(CITY).map(({ headers }) => headers.range !== undefined),
      [true, false],
    )
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('starts over where the server has no more bytes', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"' })
    await at.interrupt()
    truncateSync(at.inGeo(CITY_ARCHIVE), 10_000_000)
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.askedFor(CITY).length, 2)
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
  })

  it('starts over where nobody knows what was downloaded', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"' })
    await at.interrupt()
    writeFileSync(at.inGeo(`${CITY_ARCHIVE}.json`), '{"url":')
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.askedFor(CITY)[0]?.headers.range, undefined)
  })

  it('is one from which no byte came for a while', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"' })
    at.server.silentAfter = 50_000
    assert.match(
      await at.outcome('GeoLite2 City', { idleMs: 300 }),
      /: no byte came for 0\.3 s; run it again, and it continues$/,
    )
    at.server.silentAfter = Number.POSITIVE_INFINITY
    const { size } = statSync(at.inGeo(CITY_ARCHIVE))
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.askedFor(CITY).at(-1)?.headers.range, `bytes=${size}-`)
  })

  it('is one that is not answered at all', async () => {
    at.server.intercept = ({ url }) => url === DBIP
    assert.match(
      await at.outcome('DB-IP City Lite', { idleMs: 100 }),
      /^Cannot download .*: no byte came for 0\.1 s; run it again$/,
    )
  })
})
