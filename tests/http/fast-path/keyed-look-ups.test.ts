import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKeyedLookUps } from '../../../routes/request/keyed-look-ups.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { words } from '../../support/words.ts'

const REQUEST_ID = '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01'
const PEER = '203.0.113.7'
const ATTEMPTS = 100
const LOCATE = '/v1/ip/81.2.69.160'

let answer: ReturnType<typeof createKeyedLookUps>
let keys: Readonly<Record<string, string>>
const env = { MERIDIAN_TRUSTED_PROXIES: '203.0.113.0/24' }
const app = sharedScene({ env }, async () => {
  answer = createKeyedLookUps(app.services)
  keys = {
    secret: await app.makeKey(),
    publishable: await app.makeKey({ type: 'publishable', origins: ['https://app.example'] }),
    narrow: await app.makeKey({ scopes: ['account:read'] }),
    unknown: 'x',
  }
  // On PostgreSQL, the first request of a user loads the counts, which the fast path leaves to the router.
  await app.send('GET', LOCATE, { headers: withKey() })
})

const withKey = (name = 'secret') => ({ 'x-api-key': keys[name] ?? '' })

/** Sends a request to the fast path. */
function ask(url: string, headers: Readonly<Record<string, string>> = {}) {
  return answer({
    method: 'GET',
    url,
    headers: { host: '127.0.0.1:8787', ...withKey(), ...headers },
    socket: { remoteAddress: PEER },
  })
}

async function assertSame(path: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const sent = { 'x-request-id': REQUEST_ID, ...headers }
  let fast = ask(path, sent)
  // On PostgreSQL, it leaves requests to the router while other nodes are asked.
  for (let attempt = 0; fast === null && attempt < ATTEMPTS; attempt++) {
    await sleep(1)
    fast = ask(path, sent)
  }
  assert.ok(fast, 'the fast path must answer')
  const usual = await app.send('GET', path, { headers: sent, from: PEER })
  assert.equal(fast.status, usual.status)
  assert.equal(fast.json, usual.text)
  const routed = Object.fromEntries(usual.headers)
  assert.deepEqual(withoutRemaining(fast.headers), withoutRemaining(routed))
}

/** Omits the remaining requests of the limit: the second request leaves fewer than the first. */
function withoutRemaining(headers: Readonly<Record<string, string>>) {
  return { ...headers, ratelimit: headers['ratelimit'] !== undefined }
}

describe('createKeyedLookUps', () => {
  for (const address of words('81.2.69.160 10.0.0.1 5.0.0.1 2001:218::1 81.2.69 f 1.. 0:')) {
    for (const rest of ['', '/timezone', '/validation']) {
      it(`answers /v1/ip/${address}${rest} as the router does`, () =>
        assertSame(`/v1/ip/${address}${rest}`, withKey()))
    }
  }

  const includes = 'network privacy network,privacy privacy,network network,network'
  for (const include of words(includes)) {
    it(`includes ${include} as the router does`, async () => {
      for (const address of ['81.2.69.160', '10.0.0.1', '2001:218::1', 'f']) {
        await assertSame(`/v1/ip/${address}?include=${include}`, withKey())
      }
    })
  }

  for (const name of ['publishable', 'narrow', 'unknown']) {
    it(`refuses a key that is ${name} where the router does`, async () => {
      const key = withKey(name)
      await assertSame(LOCATE, key)
      await assertSame(LOCATE, { ...key, origin: 'https://app.example' })
      await assertSame(LOCATE, { ...key, origin: 'https://other.example' })
    })
  }

  it('answers a key in Authorization as the router does', async () => {
    for (const name of Object.keys(keys)) {
      const authorization = `Bearer ${name === 'unknown' ? 'sk_live_x' : keys[name]}`
      const headers = { 'x-request-id': REQUEST_ID, authorization }
      const host = '127.0.0.1:8787'
      const request = { method: 'GET', url: LOCATE, socket: { remoteAddress: PEER } } as const
      const fast = answer({ ...request, headers: { host, ...headers } })
      const usual = await app.send('GET', LOCATE, { headers, from: PEER })
      assert.deepEqual([fast?.status, fast?.json], [usual.status, usual.text])
    }
  })

  it('refuses a bad key before it reads the query', () => {
    const bad = ask('/v1/ip/8.8.8.8?lang=xx', { 'x-api-key': 'x', 'x-request-id': REQUEST_ID })
    assert.equal(bad?.status, 401)
  })

  it('makes a request id if the one sent is not a UUID', () => {
    const fast = ask(LOCATE, { 'x-request-id': 'mine' })
    assert.match(fast?.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/)
  })

  it('leaves requests without a key to node:http', () => {
    const head = { method: 'GET', url: LOCATE, socket: { remoteAddress: PEER } } as const
    const host = '127.0.0.1:8787'
    assert.equal(answer({ ...head, headers: { host } }), null)
    assert.equal(answer({ ...head, headers: { host, authorization: 'Bearer nonsense' } }), null)
  })

  const others = words(`
    /v1/ip/me/validation /v1/ip/me?fields=nothing /v1/ip/me?fields=hostname /v1/ip/.. /v1/ip/.
    /v1/ip/ /v1/ip/::1 /v1/ip/81.2.69.160/ /v1/ip/81.2.69.160?" /v1/ip/81.2.69.160?lang=de&lang=fr
    /v1/ip/81.2.69.160?field=location.city /v1/ip/81.2.69.160?include=
    /v1/ip/81.2.69.160?include=hostname /v1/ip/81.2.69.160?include=network,
    /v1/ip/81.2.69.160?include=network&include=network /v1/ip/81.2.69.160/timezone?include=network
    /v1/ip/81.2.69.160#a /v1/ip/81%2e2.69.160 /v1/ip/81.2.69.160/../8.8.8.8 /v1/ip//81.2.69.160
    //v1/ip/81.2.69.160 /v1xip/81.2.69.160 http://127.0.0.1:8787/v1/ip/81.2.69.160 * /health`)
  for (const path of ['', ...others]) {
    it(`leaves the path "${path}" to node:http`, () => assert.equal(ask(path), null))
  }

  it('leaves unusual hosts to node:http, whose adaptor checks them', () => {
    for (const host of ['', 'a b', 'a@b', 'A.example', 'a:x', 'a:99999', '[::1]:8787', 'a/b']) {
      assert.equal(ask(LOCATE, { host }), null)
    }
    const socket = { remoteAddress: PEER }
    assert.equal(answer({ method: 'GET', url: LOCATE, headers: withKey(), socket }), null)
  })
})
