import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { beforeEach, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import * as v from 'valibot'
import { ScriptTag } from '../../../lib/contract/telemetry/script.ts'
import { recordingLog } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'

const MAX_GZIPPED_BYTES = 6000
const UUID = /^[0-9a-f-]{36}$/

const log = recordingLog()
let tag: ScriptTag
const app = sharedScene({ log }, async () => {
  tag = v.parse(ScriptTag, (await app.send('GET', '/rum.json')).body)
})
beforeEach(() => {
  log.requests.length = 0
})

async function load(path: string, init: RequestInit = {}) {
  const request = new Request(new URL(path, 'http://127.0.0.1:8787'), init)
  return app.app.fetch(request, { remoteAddress: '198.51.100.7' })
}

function pinned(): string {
  return new URL(tag.src).pathname
}

describe('the browser script', () => {
  it('has at most 6 kB compressed', async () => {
    const response = await load('/rum.js', { headers: { 'accept-encoding': 'br, gzip' } })
    assert.equal(response.headers.get('content-encoding'), 'gzip')
    const gzipped = Buffer.from(await response.arrayBuffer())
    assert.ok(gzipped.length <= MAX_GZIPPED_BYTES, `the script has ${gzipped.length} bytes`)
    assert.equal(gunzipSync(gzipped).toString(), await (await load('/rum.js')).text())
  })

  it('is not compressed for clients that do not accept it', async () => {
    for (const accepted of ['', 'identity', 'br', 'gzip;q=0', 'gzip; q=0.0, br']) {
      const response = await load('/rum.js', { headers: { 'accept-encoding': accepted } })
      assert.equal(response.headers.get('content-encoding'), null, accepted)
    }
  })

  it('can be loaded by pages of any origin', async () => {
    for (const path of ['/rum.js', pinned()]) {
      const { status, headers } = await load(path)
      assert.equal(status, 200)
      assert.equal(headers.get('content-type'), 'text/javascript; charset=utf-8')
      assert.equal(headers.get('access-control-allow-origin'), '*')
      assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('vary'), 'Accept-Encoding')
      assert.match(headers.get('x-request-id') ?? '', UUID)
    }
  })

  it('is cached for an hour, and its pinned copy for a year', async () => {
    const stored = async (path: string) => (await load(path)).headers.get('cache-control')
    assert.equal(await stored('/rum.js'), 'public, max-age=3600')
    assert.equal(await stored(pinned()), 'public, max-age=31536000, immutable')
  })

  it('is not sent again to clients that have it', async () => {
    for (const path of ['/rum.js', pinned()]) {
      const etag = (await load(path)).headers.get('etag') ?? ''
      for (const given of [etag, etag.slice(2), `"x", ${etag}`, '*']) {
        const response = await load(path, { headers: { 'if-none-match': given } })
        assert.equal(response.status, 304, given)
        assert.equal(await response.text(), '')
        assert.equal(response.headers.get('etag'), etag)
      }
      assert.equal((await load(path, { headers: { 'if-none-match': '"x"' } })).status, 200)
    }
  })

  it('answers HEAD like GET, without a body', async () => {
    for (const path of ['/rum.js', pinned()]) {
      const [got, head] = await Promise.all([load(path), load(path, { method: 'HEAD' })])
      for (const { headers } of [got, head]) {
        headers.delete('x-request-id')
        headers.delete('ratelimit')
      }
      assert.equal(await head.text(), '')
      assert.deepEqual([...head.headers], [...got.headers])
    }
  })

  it('answers 405 to other methods', async () => {
    for (const path of ['/rum.js', pinned()]) {
      const { status, headers } = await load(path, { method: 'POST' })
      assert.equal(status, 405)
      assert.equal(headers.get('allow'), 'GET, HEAD, OPTIONS')
      assert.equal((await load(path, { method: 'OPTIONS' })).status, 204)
    }
  })

  it('answers 404 for another version', async () => {
    const { status, headers } = await load('/rum.0123456789abcdef.js')
    assert.equal(status, 404)
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal((await load('/rum.x.js')).status, 404)
  })

  it('can be loaded 200 times a minute from one address', async () => {
    const loads = Array.from({ length: 200 }, () => load('/rum.js'))
    for (const { status } of await Promise.all(loads)) assert.equal(status, 200)
  })

  it('logs one line per request', async () => {
    await load('/rum.js')
    await load(pinned(), { method: 'HEAD' })
    await load('/rum.js', { method: 'POST' })
    const logged = log.requests.map(({ method, route, status }) => [method, route, status])
    assert.deepEqual(logged, [
      ['GET', '/rum.js', 200],
      ['HEAD', '/rum.{hash}.js', 200],
      ['POST', '/rum.js', 405],
    ])
  })
})

describe('GET /rum.json', () => {
  it('answers the tag of the pinned copy, with the integrity value of its bytes', async () => {
    const digest = createHash('sha384').update(await (await load(pinned())).text())
    const { src, integrity, snippet } = tag
    assert.equal(integrity, `sha384-${digest.digest('base64')}`)
    assert.match(src, /^http:\/\/127\.0\.0\.1:8787\/rum\.[0-9a-f]{16}\.js$/)
    assert.ok(snippet.includes(`src="${src}" integrity="${integrity}"`))
  })
})
