import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { after, before, describe, it } from 'node:test'
import { createRoutes } from '../../routes/app.ts'
import type { Answer } from '../../routes/respond.ts'
import { createPlain, createStraight, type PlainRequest } from '../../routes/straight.ts'
import { makeApp, type TestApp } from '../helpers.ts'

const REQUEST_ID = '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01'
const PEER = '203.0.113.7'
const BEACONS = '/v1/telemetry/rum'
const LOCATE = '/v1/ip/81.2.69.160'

let app: TestApp
let straight: ReturnType<typeof createStraight>
let atOnce: ReturnType<typeof createPlain>
let keys: Readonly<Record<string, string>>
before(async () => {
  app = await makeApp({ env: { MERIDIAN_TRUSTED_PROXIES: '203.0.113.0/24' } })
  const routes = createRoutes(app.services)
  straight = createStraight(routes)
  atOnce = createPlain(routes)
  keys = {
    secret: await app.makeKey(),
    publishable: await app.makeKey({ type: 'publishable', origins: ['https://app.example'] }),
    narrow: await app.makeKey({ scopes: ['account:read'] }),
    unknown: 'x',
  }
})
after(() => app.close())

function plain(url: string, headers: PlainRequest['headers'] = {}, method = 'GET'): PlainRequest {
  return Object.assign(new EventEmitter(), {
    method,
    url,
    headers: { host: '127.0.0.1:8787', ...headers },
    socket: { remoteAddress: PEER },
  })
}

async function assertAlike(path: string, headers: Readonly<Record<string, string>>): Promise<void> {
  const sent = { 'x-request-id': REQUEST_ID, ...headers }
  const answer = await straight(plain(path, sent))
  assert.ok(answer, 'it goes straight')
  const usual = await app.send('GET', path, { headers: sent, from: PEER })
  assert.equal(answer.status, usual.status)
  assert.equal(answer.json, usual.text)
  assert.deepEqual(withoutRest(answer.headers), withoutRest(Object.fromEntries(usual.headers)))
  const first = atOnce(plain(path, sent))
  if (headers['x-api-key'] === undefined) assert.equal(first, null, 'it may have to wait')
  else assert.deepEqual(withoutLimit(first), withoutLimit(answer))
}

function withoutLimit(answer: Answer | null) {
  return answer === null ? null : { ...answer, headers: withoutRest(answer.headers) }
}

/** The second request leaves less of the limit than the first. */
function withoutRest(headers: Readonly<Record<string, string>>) {
  return { ...headers, ratelimit: headers['ratelimit'] !== undefined }
}

describe('a look-up that goes straight', () => {
  const addresses = [
    '81.2.69.160',
    '10.0.0.1',
    '5.0.0.1',
    '2001:218::1',
    '81.2.69',
    'f',
    '1..',
    '0:',
  ]
  for (const address of addresses) {
    for (const rest of ['', '/timezone', '/validation']) {
      it(`is answered as by Hono: /v1/ip/${address}${rest}`, () =>
        assertAlike(`/v1/ip/${address}${rest}`, { 'x-api-key': keys['secret'] ?? '' }))
    }
  }

  for (const name of ['publishable', 'narrow', 'unknown']) {
    it(`is refused or not as by Hono with a key that is ${name}`, async () => {
      const key = { 'x-api-key': keys[name] ?? '' }
      await assertAlike(LOCATE, key)
      await assertAlike(LOCATE, { ...key, origin: 'https://app.example' })
      await assertAlike(LOCATE, { ...key, origin: 'https://other.example' })
    })
  }

  it('is refused as by Hono without a key', async () => {
    await assertAlike(LOCATE, {})
    await assertAlike(LOCATE, { authorization: 'Bearer nonsense' })
  })

  it('gets a request id of its own', async () => {
    const answer = await straight(plain(LOCATE, { 'x-request-id': 'mine' }))
    assert.match(answer?.headers['x-request-id'] ?? '', /^[0-9a-f-]{36}$/)
  })
})

describe('what does not go straight', () => {
  const others = [
    '/v1/ip/me',
    '/v1/ip/me/timezone',
    '/v1/ip/..',
    '/v1/ip/.',
    '/v1/ip/',
    '/v1/ip/::1',
    '/v1/ip/81.2.69.160/',
    '/v1/ip/81.2.69.160?',
    '/v1/ip/81.2.69.160?a=b',
    '/v1/ip/81.2.69.160#a',
    '/v1/ip/81%2e2.69.160',
    '/v1/ip/81.2.69.160/../8.8.8.8',
    '/v1/ip//81.2.69.160',
    '//v1/ip/81.2.69.160',
    '/v1xip/81.2.69.160',
    'http://127.0.0.1:8787/v1/ip/81.2.69.160',
    '*',
    '',
    '/health',
  ]
  for (const path of others) {
    it(`is ${path}`, () => {
      assert.equal(straight(plain(path)), null)
      assert.equal(atOnce(plain(path, { 'x-api-key': keys['secret'] })), null)
    })
  }

  it('is any method but GET', () => {
    for (const method of ['HEAD', 'OPTIONS', 'POST', 'get']) {
      assert.equal(straight(plain(LOCATE, {}, method)), null)
    }
  })

  it('is a request for no host, or for one that the adaptor has to look at', () => {
    for (const host of [undefined, '', 'a b', 'a@b', 'A.example', 'a:x', '[::1]:8787', 'a/b']) {
      assert.equal(straight(plain(LOCATE, { host })), null)
      assert.equal(atOnce(plain(LOCATE, { host, 'x-api-key': keys['secret'] })), null)
    }
  })
})

describe('a beacon that goes straight', () => {
  const ORIGIN = 'https://shop.example'
  before(async () => {
    const site = { key: keys['secret'] ?? '', body: { name: ORIGIN } }
    assert.equal((await app.send('POST', '/v1/account/me/sites', site)).status, 201)
  })

  async function sendStraight(
    chunks: readonly string[],
    headers: Readonly<Record<string, string>>,
  ) {
    const request = Object.assign(new EventEmitter(), plain(BEACONS, headers, 'POST'))
    const answer = straight(request)
    for (const chunk of chunks) request.emit('data', Buffer.from(chunk))
    request.emit('end')
    request.emit('close')
    return answer
  }

  const good = '{"metrics":{"lcp":1200}}'
  const beacons: readonly [string, readonly string[], Record<string, string>][] = [
    ['good', [good], { origin: ORIGIN }],
    ['in two chunks', ['{"metrics":', '{"cls":0}}'], { origin: ORIGIN }],
    ['of another site', [good], { origin: 'https://other.example' }],
    ['without an origin', [good], {}],
    ['of two origins', [good], { origin: ORIGIN, referer: 'https://other.example/' }],
    ['no JSON', ['{'], { origin: ORIGIN }],
    ['empty', [], { origin: ORIGIN }],
    ['of 4096 bytes', [good.padEnd(4096)], { origin: ORIGIN }],
    ['too large', [good.padEnd(4097), 'more'], { origin: ORIGIN }],
  ]
  for (const [name, chunks, headers] of beacons) {
    it(`is answered as by Hono: ${name}`, async () => {
      const sent = { 'x-request-id': REQUEST_ID, ...headers }
      const answer = await sendStraight(chunks, sent)
      const options = { headers: sent, body: chunks.join(''), from: PEER }
      const usual = await app.send('POST', BEACONS, options)
      assert.equal(answer?.status, usual.status)
      assert.equal(answer?.json ?? '', usual.text)
      const { headers: own } = answer ?? { headers: {} }
      assert.deepEqual(withoutRest(own), withoutRest(Object.fromEntries(usual.headers)))
    })
  }

  it('is given up where the client hangs up', async () => {
    const request = plain(BEACONS, { origin: ORIGIN }, 'POST')
    const answer = straight(request)
    assert.ok(request instanceof EventEmitter)
    request.emit('data', Buffer.from('{'))
    request.emit('close')
    assert.equal((await answer)?.status, 400)
  })
})
