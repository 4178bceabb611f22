import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { headersAt } from '../../../lib/geo/download/http-request.ts'
import { OPTIONAL } from '../../../lib/geo/files/source-files.ts'
import { HOUR_MS } from '../../../lib/parts/durations.ts'
import { assertMode } from '../../support/runtime.ts'
import { freshly } from '../../support/scene/freshly.ts'
import { openFileServer } from './file-server.ts'
import {
  APRIL_TIME,
  ASN,
  AUTHORIZATION,
  april,
  CITY,
  DBIP,
  LICENSE_KEY,
  MARCH,
  MARCH_TIME,
  march,
  maxmindTar,
  openProviders,
} from './providers.ts'

const at = freshly(openProviders)
const outcomes = async () => (await at.download()).map(({ outcome }) => outcome)

describe('a first download', () => {
  it('installs the files of both providers and leaves nothing else', async () => {
    at.serveAll()
    const shares = new Map<string, number>()
    const results = await at.download({ onProgress: (step, share) => shares.set(step, share) })
    assert.deepEqual(results, [
      { name: 'GeoLite2 City', outcome: 'installed', builtAt: MARCH },
      { name: 'GeoLite2 ASN', outcome: 'installed', builtAt: MARCH },
      { name: 'DB-IP City Lite', outcome: 'installed', builtAt: MARCH },
    ])
    const { overlay: _, lists: __, geofeeds: ___, ...downloaded } = OPTIONAL
    const names = ['downloads.json', ...Object.values(downloaded)]
    assert.deepEqual(readdirSync(at.geo).toSorted(), names.toSorted())
    for (const name of Object.values(downloaded)) {
      assert.deepEqual(readFileSync(at.inGeo(name)), Buffer.from(march))
      assertMode(at.inGeo(name), 0o400)
    }
    const steps = results.map(({ name }) => [`Download ${name}`, 1])
    assert.deepEqual([...shares], steps)
  })

  it('sends the account to MaxMind only', async () => {
    at.serveAll()
    await at.download()
    for (const { url, headers } of at.server.requests) {
      assert.equal(headers.authorization, url === DBIP ? undefined : AUTHORIZATION, url)
    }
  })

  it('sends no request to MaxMind without an account', async () => {
    at.serveAll()
    const results = await at.download({ maxmindLicenseKey: undefined })
    const names = results.map(({ name }) => name)
    assert.deepEqual(names, ['DB-IP City Lite'])
    const urls = at.server.requests.map(({ url }) => url)
    assert.deepEqual(urls, [DBIP])
  })

  it('continues with the other files if one fails', async () => {
    at.serveAll()
    at.server.intercept = ({ url }, response) => {
      if (url === CITY) response.writeHead(500).end()
      return url === CITY
    }
    assert.deepEqual(await outcomes(), ['failed', 'installed', 'installed'])
  })

  it('names the URL and the reason if there is no server', async () => {
    const gone = await openFileServer()
    await gone[Symbol.asyncDispose]()
    const reason = await at.outcome('DB-IP City Lite', { dbipUrl: gone.origin })
    assert.match(reason, /^Cannot download http:.*mmdb\.gz: connect ECONNREFUSED 127\.0\.0\.1/)
  })

  it('refuses a file with a content encoding', async () => {
    at.serveAll()
    at.server.intercept = ({ url }, response) => {
      if (url === DBIP) response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(march))
      return url === DBIP
    }
    assert.match(await at.outcome('DB-IP City Lite'), /in the encoding "gzip"$/)
  })
})

describe('a wrong account', () => {
  for (const status of [401, 403]) {
    it(`is reported for status ${status} without showing the key`, async () => {
      at.serveAll()
      at.server.intercept = ({ headers }, response) => {
        const isMaxmind = headers.authorization !== undefined
        if (isMaxmind) response.writeHead(status).end('Invalid account ID or license key')
        return isMaxmind
      }
      const results = await at.download()
      const text = JSON.stringify(results)
      assert.match(text, /the id or the licence key of MaxMind's account is wrong/)
      assert.equal(text.includes(LICENSE_KEY), false)
      assert.equal(text.includes(AUTHORIZATION), false)
      assert.equal(results.at(-1)?.outcome, 'installed')
    })
  }
})

describe('a redirect', () => {
  it('within the origin is followed with the account and the range', async () => {
    at.serveTar(CITY, { bytes: maxmindTar(march), etag: '"city"' })
    for (const [url, file] of [...at.server.files]) at.server.files.set(`/moved${url}`, file)
    await at.interrupt()
    at.server.intercept = ({ url }, response) => {
      if (url.startsWith('/moved')) return false
      response.writeHead(302, { location: `/moved${url}` }).end()
      return true
    }
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    const [request] = at.requestsFor(CITY)
    const moved = at.server.requests.filter(({ url }) => url.startsWith(`/moved${CITY}`))
    assert.equal(moved.at(-1)?.headers.authorization, AUTHORIZATION)
    assert.equal(moved.at(-1)?.headers.range, request?.headers.range)
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
  })

  it('into the private network is refused: nothing is requested there', async () => {
    await using admin = await openFileServer()
    at.serveAll()
    at.server.intercept = ({ url }, response) => {
      response.writeHead(302, { location: `${admin.origin}${url}` }).end()
      return true
    }
    for (const result of await at.download()) {
      assert.equal(result.outcome, 'failed', result.name)
      assert.match(result.reason, /redirected to ".*", which is not https on a public address/)
    }
    assert.deepEqual(admin.requests, [])
  })

  it('takes the account to no other origin', () => {
    const first = new URL('https://download.maxmind.example/a')
    const sent = new Headers({ authorization: AUTHORIZATION, range: 'bytes=1-' })
    const at = (url: string) => headersAt(new URL(url), first, sent)
    assert.equal(at('https://download.maxmind.example/b').get('authorization'), AUTHORIZATION)
    for (const other of ['https://cdn.example/a', 'http://download.maxmind.example/a']) {
      assert.deepEqual([...at(other)], [['range', 'bytes=1-']])
    }
  })
})

/** When the database was built: a copy or backup may change the time of its file. */
const MARCH_BUILD = 'Sun, 01 Mar 2026 00:00:00 GMT'

describe('a later download', () => {
  it('finds a newer file after a restore without times', async () => {
    at.serveAll()
    await at.download()
    const later = Date.parse(APRIL_TIME) / 1_000 + 86_400
    utimesSync(at.inGeo(OPTIONAL.downloadedMaxmindCity), later, later)
    at.serveAll(april, APRIL_TIME)
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(await at.outcome('GeoLite2 City'), 'up-to-date')
  })

  it('checks for a newer file, and keeps the existing one', async () => {
    at.serveAll()
    await at.download()
    const before = statSync(at.inGeo(OPTIONAL.downloadedMaxmindCity))
    at.server.requests.length = 0
    assert.deepEqual(await outcomes(), ['up-to-date', 'up-to-date', 'up-to-date'])
    const methods = at.server.requests.map(({ method }) => method)
    assert.deepEqual(methods, ['HEAD', 'HEAD', 'HEAD'])
    assert.equal(at.requestsFor(CITY)[0]?.headers['if-modified-since'], MARCH_BUILD)
    assert.equal(statSync(at.inGeo(OPTIONAL.downloadedMaxmindCity)).ino, before.ino)
    assert.deepEqual(at.leftovers(), [])
  })

  it('makes a conditional request if HEAD is refused', async () => {
    at.serveAll()
    await at.download()
    at.server.requests.length = 0
    at.server.intercept = ({ method }, response) => {
      if (method === 'HEAD') response.writeHead(403).end()
      return method === 'HEAD'
    }
    assert.equal(await at.outcome('GeoLite2 City'), 'up-to-date')
    const requests = at.requestsFor(CITY)
    const since = requests.map(({ headers }) => headers['if-modified-since'])
    assert.deepEqual(since, [MARCH_BUILD, MARCH_BUILD])
    assert.deepEqual([requests[0]?.method, requests[1]?.method], ['HEAD', 'GET'])
  })

  it('replaces the file with a newer one', async () => {
    at.serveAll()
    await at.download()
    at.serveAll(april, APRIL_TIME)
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(april))
  })

  it('keeps a file that was built at the same time or later', async () => {
    at.serveAll(april, MARCH_TIME)
    await at.download()
    for (const mmdb of [april, march]) {
      at.serveAll(mmdb, APRIL_TIME)
      assert.equal(await at.outcome('GeoLite2 City'), 'up-to-date')
      assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(april))
    }
  })

  it('replaces an unusable file, whatever its time', async () => {
    at.serveAll()
    mkdirSync(at.geo)
    writeFileSync(at.inGeo(OPTIONAL.downloadedMaxmindCity), 'text')
    assert.equal(await at.outcome('GeoLite2 City'), 'installed')
    assert.equal(at.requestsFor(CITY)[0]?.headers['if-modified-since'], undefined)
  })

  it('keeps the old file if it is interrupted', async () => {
    at.serveAll()
    await at.download()
    at.serveAll(april, APRIL_TIME)
    at.server.files.delete(ASN)
    at.server.files.delete(DBIP)
    await at.interrupt()
    assert.deepEqual(at.installed('downloadedMaxmindCity'), Buffer.from(march))
  })

  it('removes the files of a download that was killed while unpacking', async (t) => {
    at.serveAll()
    mkdirSync(at.geo)
    writeFileSync(at.inGeo('.partial-0a1b2c3d-downloaded-GeoLite2-City.mmdb'), 'text')
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 7 * HOUR_MS })
    await at.download()
    assert.deepEqual(at.leftovers(), [])
  })
})
