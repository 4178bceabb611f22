import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makeApp } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'

const LOCATE = '/v1/ip/81.2.69.160'

let secret: string
let publishable: string
const app = sharedScene({}, async () => {
  secret = await app.makeKey()
  publishable = await app.makeKey({ type: 'publishable', origins: ['https://app.example'] })
})

const allowed = (headers: Headers) => headers.get('access-control-allow-origin')

describe('CORS', () => {
  const origin = 'https://app.example'

  it('lets the page of an allowed origin read answers and errors of the operation', async () => {
    for (const [path, status] of [
      [LOCATE, 200],
      ['/v1/ip/10.0.0.1', 404],
      ['/v1/ip/foo', 400],
    ] as const) {
      const answer = await app.send('GET', path, { key: publishable, headers: { origin } })
      assert.equal(answer.status, status)
      assert.equal(allowed(answer.headers), origin)
      assert.match(answer.headers.get('access-control-expose-headers') ?? '', /X-Request-Id/)
      assert.equal(answer.headers.get('access-control-allow-credentials'), null)
    }
  })

  it('lets any page read errors, without credentials', async () => {
    const wrong = { origin: 'https://evil.example' }
    for (const [status, path, key] of [
      [401, LOCATE, 'bad'],
      [403, LOCATE, publishable],
      [404, '/v1/nothing', undefined],
      [403, '/v1/account/me', publishable],
    ] as const) {
      const sent = { headers: wrong, ...(key !== undefined && { key }) }
      const { status: got, headers } = await app.send('GET', path, sent)
      assert.equal(got, status)
      assert.equal(allowed(headers), '*')
      assert.match(headers.get('access-control-expose-headers') ?? '', /Retry-After/)
      assert.equal(headers.get('access-control-allow-credentials'), null)
    }
  })

  it('hides answers to secret keys from pages', async () => {
    const secretly = await app.send('GET', LOCATE, { key: secret, headers: { origin } })
    assert.equal(allowed(secretly.headers), null)
  })

  it('lets any page read public operations', async () => {
    for (const path of ['/v1', '/health', '/v1/billing/plans', '/.well-known/openapi.json']) {
      assert.equal(allowed((await app.send('GET', path)).headers), '*')
    }
  })

  it('answers a preflight without a credential', async () => {
    const asked = { 'access-control-request-method': 'GET' }
    const sent = { origin, ...asked, 'access-control-request-headers': 'x-api-key' }
    const { status, headers } = await app.send('OPTIONS', LOCATE, { headers: sent })
    assert.equal(status, 204)
    assert.equal(allowed(headers), origin)
    assert.equal(headers.get('access-control-allow-methods'), 'GET')
    assert.match(headers.get('access-control-allow-headers') ?? '', /X-API-Key/)
  })

  it('allows no preflight to account, billing and contact', async () => {
    for (const path of ['/v1/account/me', '/v1/billing/subscription', '/v1/contact']) {
      const { headers } = await app.send('OPTIONS', path, { headers: { origin } })
      assert.equal(allowed(headers), null)
    }
  })
})

describe('MERIDIAN_CORS_ORIGINS', () => {
  const origin = 'https://dash.example'
  const elsewhere = { origin: 'https://dash.example.evil' }
  const paths = ['/v1/account/me', '/v1/billing/subscription', '/v1/contact']

  const env = { MERIDIAN_CORS_ORIGINS: 'https://Dash.example/, http://localhost:3000' }
  const open = sharedScene({ env })

  it('answers preflights to account, billing and contact for these origins alone', async () => {
    for (const path of paths) {
      const { headers } = await open.send('OPTIONS', path, { headers: { origin } })
      assert.equal(allowed(headers), origin)
      assert.match(headers.get('access-control-allow-methods') ?? '', /GET|POST/)
      assert.match(headers.get('access-control-allow-headers') ?? '', /Authorization/)
      assert.equal(headers.get('access-control-allow-credentials'), null)
      const other = await open.send('OPTIONS', path, { headers: elsewhere })
      assert.equal(allowed(other.headers), null)
    }
  })

  it('lets pages of these origins read answers and errors', async () => {
    const key = await open.makeKey()
    const read = async (path: string, headers: Record<string, string>) =>
      allowed((await open.send('GET', path, { key, headers })).headers)
    const local = 'http://localhost:3000'
    assert.equal(await read('/v1/account/me', { origin }), origin)
    assert.equal(await read('/v1/account/me', { origin: local }), local)
    assert.equal(await read('/v1/account/me', elsewhere), null)
    assert.equal(await read('/v1/account/me', {}), null)
    assert.equal(await read(LOCATE, { origin }), null)
    const refused = await open.send('POST', '/v1/contact', { headers: { origin }, body: {} })
    assert.deepEqual([refused.status, allowed(refused.headers)], [400, origin])
  })

  it('is a list of origins', async () => {
    const env = { MERIDIAN_CORS_ORIGINS: 'https://dash.example/app' }
    await assert.rejects(makeApp({ env }), /MERIDIAN_CORS_ORIGINS must be/)
  })
})
