import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { signInNewUser } from '../../support/scene/pages.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { freshClient } from '../../support/scene/send.ts'

let cookie: string
const app = sharedScene({}, async () => {
  cookie = await signInNewUser(app)
})

/** Sends a request as the script of the reference does. */
async function tryIt(body: unknown, headers: Readonly<Record<string, string>> = { cookie }) {
  const request = new Request('http://127.0.0.1:8787/app/try', {
    method: 'POST',
    redirect: 'manual',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
    body: JSON.stringify(body),
  })
  const response = await app.app.fetch(request, { remoteAddress: freshClient() })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

describe('POST /app/try', () => {
  it('answers what the API answers to the session, with its limit', async () => {
    const path = '/v1/ip/81.2.69.160?fields=location.city'
    const { status, headers, text } = await tryIt({ operation: 'locateAddress', path })
    assert.equal(status, 200, text)
    assert.partialDeepStrictEqual(JSON.parse(text), { location: { city: 'London' } })
    assert.match(headers.get('ratelimit-policy') ?? '', /^"per-user"/)
    assert.equal(headers.get('content-type'), 'application/json')
  })

  it('sends a body, and answers errors of the API', async () => {
    const create = { operation: 'createKey', path: '/v1/account/me/keys' }
    assert.equal((await tryIt({ ...create, body: '{"name":"a"}' })).status, 201)
    const refused = await tryIt({ ...create, body: '{"name":1}' })
    assert.equal(refused.status, 400)
    assert.equal(JSON.parse(refused.text).error.code, 'BAD_REQUEST')
  })

  it('answers without a body where the API does', async () => {
    const create = { operation: 'createSite', path: '/v1/account/me/sites' }
    const made = await tryIt({ ...create, body: '{"name":"https://shop.example"}' })
    assert.equal(made.status, 201, made.text)
    const path = `/v1/account/me/sites/${JSON.parse(made.text).id}`
    const { status, text } = await tryIt({ operation: 'deleteSite', path })
    assert.deepEqual([status, text], [204, ''])
  })

  it('sends visitors without a session to the sign-in page', async () => {
    const { status } = await tryIt({ operation: 'getProfile', path: '/v1/account/me' }, {})
    assert.equal(status, 303)
  })

  it('refuses other sites', async () => {
    const headers = { cookie, 'sec-fetch-site': 'cross-site' }
    const { status } = await tryIt({ operation: 'getProfile', path: '/v1/account/me' }, headers)
    assert.equal(status, 403)
  })

  for (const [operation, path] of [
    ['getProfile', '/v1/account/me/keys'],
    ['getProfile', '/app/account'],
    ['locateAddress', '//evil.example/v1/ip/8.8.8.8'],
    ['locateAddress', 'http://'],
    ['locateAddress', '/v1/ip/a/b'],
    ['locateAddress', '/v1/ip/../account/me'],
    ['sendInquiry', '/v1/contact'],
    ['nothing', '/v1'],
  ]) {
    it(`refuses ${operation} at ${path}`, async () => {
      assert.equal((await tryIt({ operation, path })).status, 400)
    })
  }

  it('refuses a body that is not JSON', async () => {
    const path = '/v1/account/me/keys'
    assert.equal((await tryIt({ operation: 'createKey', path, body: '{' })).status, 400)
    assert.equal((await tryIt('x')).status, 400)
  })
})
