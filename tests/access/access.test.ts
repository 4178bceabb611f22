import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as v from 'valibot'
import { mintKey } from '../../lib/access/api-key.ts'
import { SECOND_MS } from '../../lib/parts/durations.ts'
import { onlyOnSqlite } from '../support/database/test-database.ts'
import { codeOf, NOON } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const REQUEST_ID = '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01'

const pages = ['https://app.example', 'https://*.example.com', 'http://localhost:3000']
let secret: string
let publishable: string
const app = sharedScene({}, async () => {
  secret = await app.makeKey()
  publishable = await app.makeKey({ type: 'publishable', origins: pages })
})
const ada = app.user('ada')

async function codeFor(headers: Record<string, string>, path = LOCATE): Promise<string> {
  const answer = await app.send('GET', path, { headers })
  return answer.status === 200 ? 'OK' : codeOf(answer)
}

/** The same with a key in X-API-Key. */
const codeOfKey = (key: string, path?: string) => codeFor({ 'x-api-key': key }, path)

describe('a credential', () => {
  it('is answered with the same 401, whatever is wrong with it', async () => {
    const tampered = `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`
    const others = [mintKey('secret').text, mintKey('publishable').text, tampered]
    const texts = [
      ...[undefined, '', 'x', ...others, secret.toUpperCase(), 'x'.repeat(10_000)],
      ...[`${secret},${secret}`, `Bearer ${secret}`, secret.slice(0, 16)],
      await app.makeKey({ expiresAt: NOON }),
      await app.makeKey({ expiresAt: NOON - 1 }),
    ]
    const bodies = new Set<string>()
    for (const text of texts) {
      const headers = {
        'x-request-id': REQUEST_ID,
        ...(text !== undefined && { 'x-api-key': text }),
      }
      const { status, body, headers: answered } = await app.send('GET', LOCATE, { headers })
      assert.equal(status, 401)
      assert.equal(answered.get('access-control-allow-origin'), '*')
      bodies.add(JSON.stringify(body))
    }
    assert.equal(bodies.size, 1)
    assert.match(
      [...bodies].join(),
      /\/app\/keys.*X-API-Key/,
      'where to get a key, and where it belongs',
    )
  })

  it('is valid until the millisecond in which it expires', async () => {
    const key = await app.makeKey({ expiresAt: NOON + 1 })
    assert.equal(await codeOfKey(key), 'OK')
  })

  it('may be a key in Authorization, of either type', async () => {
    const origin = 'https://app.example'
    assert.equal(await codeFor({ authorization: `Bearer ${secret}` }), 'OK')
    assert.equal(await codeFor({ authorization: `bearer  ${secret}` }, '/v1/account/me'), 'OK')
    assert.equal(await codeFor({ authorization: `Bearer ${publishable}`, origin }), 'OK')
    assert.equal(await codeFor({ authorization: `Bearer ${publishable}` }), 'ORIGIN_NOT_ALLOWED')
    for (const text of ['Bearer abc', `Bearer ${secret}0`, `Basic ${secret}`, secret]) {
      assert.equal(await codeFor({ authorization: text }), 'UNAUTHORIZED')
    }
  })

  it('may be the user of Basic, as curl -u KEY: sends it (RFC 7617)', async () => {
    const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`
    const origin = 'https://app.example'
    assert.equal(await codeFor({ authorization: basic(`${secret}:`) }), 'OK')
    assert.equal(await codeFor({ authorization: basic(`${secret}:`) }, '/v1/account/me'), 'OK')
    assert.equal(await codeFor({ authorization: basic(`${publishable}:`), origin }), 'OK')
    assert.equal(await codeFor({ authorization: basic(`${publishable}:`) }), 'ORIGIN_NOT_ALLOWED')
    for (const text of [secret, `${secret}0:`, `${secret}:x`, `:${secret}`, `a:${secret}`, ':', ''])
      assert.equal(await codeFor({ authorization: basic(text) }), 'UNAUTHORIZED', text)
    const both = { authorization: basic(`${secret}:`), 'x-api-key': 'bad' }
    assert.equal(await codeFor(both), 'UNAUTHORIZED')
  })

  it('is taken from X-API-Key if both headers are present', async () => {
    const authorization = 'Bearer abc'
    assert.equal(await codeFor({ authorization, 'x-api-key': secret }), 'OK')
    assert.equal(await codeFor({ authorization, 'x-api-key': 'bad' }), 'UNAUTHORIZED')
  })

  it('is not read from the query', async () => {
    const path = `${LOCATE}?apiKey=${secret}&api_key=${secret}&key=${secret}`
    assert.equal(await codeFor({}, path), 'UNAUTHORIZED')
  })

  it('may be surrounded by blanks, which HTTP strips', async () => {
    assert.equal(await codeOfKey(`  ${secret} `), 'OK')
  })

  it('is never quoted in an error', async () => {
    const { text } = await app.send('GET', LOCATE, { key: `${secret}0` })
    assert.equal(text.includes(secret.slice(8)), false)
  })
})

describe('GET /v1/ip/me/timezone', () => {
  const path = '/v1/ip/me/timezone'

  it('answers 403 without any credential, and 401 to a wrong one', async () => {
    assert.equal(await codeFor({}, path), 'ANONYMOUS_ACCESS')
    assert.equal(await codeOfKey('bad', path), 'UNAUTHORIZED')
    assert.equal(await codeFor({ authorization: 'Bearer abc' }, path), 'UNAUTHORIZED')
  })
})

describe('a scope', () => {
  it('limits a key to its own operations', async () => {
    const key = await app.makeKey({ scopes: ['geo:read'] })
    assert.equal(await codeOfKey(key), 'OK')
    assert.equal(await codeOfKey(key, '/v1/account/me'), 'INSUFFICIENT_SCOPE')
  })

  it('is checked before the path and the body', async () => {
    const key = await ada.key({ scopes: ['account:read'] })
    assert.equal(await codeOfKey(key, '/v1/ip/foo'), 'INSUFFICIENT_SCOPE')
    const answer = await ada.send('POST', '/v1/account/me/keys', '{')
    assert.equal(codeOf(answer), 'INSUFFICIENT_SCOPE')
  })

  it('is required: a key with an empty list may call nothing', async () => {
    assert.equal(await codeOfKey(await app.makeKey({ scopes: [] })), 'INSUFFICIENT_SCOPE')
  })
})

describe('a publishable key', () => {
  const good = ['https://app.example', 'https://a.example.com', 'https://a.b.example.com']
  for (const origin of [...good, 'http://localhost:3000']) {
    it(`works from ${origin}`, async () => {
      assert.equal(await codeFor({ 'x-api-key': publishable, origin }), 'OK')
    })
  }

  const bad = ['https://evilexample.com', 'https://example.com', 'http://app.example', 'null', '']
  for (const origin of [...bad, 'http://localhost:3001', 'https://app.example.evil.com']) {
    it(`is refused from "${origin}"`, async () => {
      assert.equal(await codeFor({ 'x-api-key': publishable, origin }), 'ORIGIN_NOT_ALLOWED')
    })
  }

  it('is refused without an Origin, whatever the Referer says', async () => {
    const headers = { 'x-api-key': publishable, referer: 'https://app.example/' }
    assert.equal(await codeFor(headers), 'ORIGIN_NOT_ALLOWED')
  })

  it('allows only look-ups, even if more scopes are stored', async () => {
    const origins = ['https://app.example']
    const key = await app.makeKey({ type: 'publishable', origins, scopes: null })
    const headers = { 'x-api-key': key, origin: 'https://app.example' }
    assert.equal(await codeFor(headers), 'OK')
    assert.equal(await codeFor(headers, '/v1/account/me'), 'INSUFFICIENT_SCOPE')
  })

  it('works nowhere without an allowed origin', async () => {
    const key = await app.makeKey({ type: 'publishable' })
    const headers = { 'x-api-key': key, origin: 'https://app.example' }
    assert.equal(await codeFor(headers), 'ORIGIN_NOT_ALLOWED')
  })
})

describe('a key that changes while the service runs', () => {
  it('follows another process that creates it and changes its plan', async () => {
    const key = await app.makeKey({ email: 'new@example.com', plan: 'free' })
    const tier = async () => {
      const { body } = await app.send('GET', LOCATE, { key })
      const Meta = v.object({ meta: v.object({ tier: v.string() }) })
      return v.is(Meta, body) ? body.meta.tier : codeOf({ body })
    }
    assert.equal(await tier(), 'free')
    await app.makeKey({ email: 'new@example.com', plan: 'starter' })
    assert.equal(await tier(), 'starter')
  })

  const onlyOwn = onlyOnSqlite('PostgreSQL sends a notice, which may arrive later')
  it(
    'authorises nothing if another process revokes it while the body arrives',
    onlyOwn,
    async () => {
      const key = await app.makeKey({ email: 'kim@example.com' })
      const rest = Promise.withResolvers<Uint8Array>()
      const body = ReadableStream.from([rest.promise])
      const answer = app.send('POST', '/v1/ip/batch', { key, body })
      await nextTurn()
      await app.otherDb.execute({
        sql: 'DELETE FROM api_keys WHERE prefix = ?',
        params: [key.slice(0, 16)],
      })
      app.pass(SECOND_MS)
      rest.resolve(Buffer.from('{"ips":["8.8.8.8"]}'))
      assert.equal((await answer).status, 401)
    },
  )
})
