import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import { codeOf, makeApp, recordingLog } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const KEYS = '/v1/account/me/keys'
const LIMIT_BYTES = 16 * 1024

const log = recordingLog()
let key: string
const app = sharedScene({ log }, async () => {
  key = await ada.key()
})
const ada = app.user('ada')
beforeEach(() => {
  log.requests.length = 0
  log.events.length = 0
})

describe('X-Request-Id', () => {
  it('keeps the UUID that the client sends', async () => {
    const small = '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01'
    for (const given of [small, '0190163D-8694-739B-AEA5-966C26F8AD91']) {
      const { headers } = await app.send('GET', LOCATE, { headers: { 'x-request-id': given } })
      assert.equal(headers.get('x-request-id'), given)
    }
  })

  it('replaces a value that is not a UUID', async () => {
    const garbage = ['', 'x', '6f6b1d3e', '"}{', '00000000-0000-0000-0000-000000000000', 'é']
    for (const given of [...garbage, '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01, x']) {
      const { headers } = await app.send('GET', LOCATE, { headers: { 'x-request-id': given } })
      assert.notEqual(headers.get('x-request-id'), given)
    }
  })

  it('is different for each request', async () => {
    const ids = new Set<string | null>()
    for (let n = 0; n < 20; n++) ids.add((await app.send('GET', '/v1')).headers.get('x-request-id'))
    assert.equal(ids.size, 20)
  })
})

describe('a request body', () => {
  const send = (body: unknown, headers: Record<string, string> = {}) =>
    ada.send('POST', KEYS, body, { headers })
  const named = (bytes: number) => {
    const empty = JSON.stringify({ name: 'a', x: '' })
    return JSON.stringify({ name: 'a', x: 'a'.repeat(bytes - empty.length) })
  }

  it('is limited to 16 KB', async () => {
    assert.notEqual((await send(named(LIMIT_BYTES))).status, 413)
    assert.equal(codeOf(await send(named(LIMIT_BYTES + 1))), 'PAYLOAD_TOO_LARGE')
  })

  it('is counted as it arrives, whatever Content-Length says', async () => {
    for (const headers of [{}, { 'content-length': '10' }, { 'content-length': 'x' }]) {
      const { stream, pulled } = endless()
      assert.equal(codeOf(await send(stream, headers)), 'PAYLOAD_TOO_LARGE')
      assert.ok(pulled() < 64, 'the rest of the body is not read')
    }
  })

  it('is refused unread if Content-Length is too large', async () => {
    const { stream, pulled } = endless()
    const answer = await send(stream, { 'content-length': '1000000' })
    assert.equal(codeOf(answer), 'PAYLOAD_TOO_LARGE')
    assert.ok(pulled() <= 1)
  })

  for (const body of ['', '{', 'name=a', '{"name":"a"}x', "{'name':'a'}"]) {
    it(`is 400 if it is not JSON: "${body}"`, async () => {
      assert.equal(codeOf(await send(body)), 'BAD_REQUEST')
    })
  }

  it('is 400 if it is not UTF-8', async () => {
    const bytes = Buffer.from('{"name":"\xff"}', 'latin1')
    assert.equal(codeOf(await send(new Response(bytes).body)), 'BAD_REQUEST')
  })

  it('is 400 with the name of the field if its shape is wrong', async () => {
    for (const body of [null, [], 'text', 1, {}, { name: 1 }, { name: 'a'.repeat(101) }]) {
      const answer = await send(JSON.stringify(body))
      assert.equal(codeOf(answer), 'BAD_REQUEST')
    }
    assert.match((await send({ name: 1 })).text, /name/)
    assert.match((await send({ name: 'a', scopes: ['x'] })).text, /scopes\.0/)
  })

  it('is 400 with the name of a field that is missing, or that the operation does not have', async () => {
    const assertMessage = async (given: object, message: string) => {
      const { body } = await send(given)
      assert.partialDeepStrictEqual(body, { error: { code: 'BAD_REQUEST', message } })
    }
    const unknown = { name: 'a', scope: ['geo:read'] }
    await assertMessage(unknown, 'scope: is not a field of this request')
    await assertMessage({ type: 'secret' }, 'name: is missing')
  })

  it('is read whatever its Content-Type', async () => {
    const answer = await send({ name: 'a' }, { 'content-type': 'text/plain' })
    assert.equal(answer.status, 201)
  })

  it('is 400 if it ends early, without an error in the log', async () => {
    const body = new ReadableStream({
      pull: (controller) => controller.error(new Error('connection reset')),
    })
    assert.equal(codeOf(await send(body)), 'BAD_REQUEST')
    assert.deepEqual(log.events, [])
  })
})

describe('the request log', () => {
  it('has one line per request', async () => {
    await ada.lookUp('81.2.69.160', { from: '203.0.113.77' })
    await app.send('GET', '/nowhere')
    await app.send('DELETE', LOCATE)
    await app.send('OPTIONS', LOCATE)
    await ada.send('POST', KEYS, '{')
    await app.send('HEAD', '/health')
    const lines = log.requests.map(({ method, route, status }) => `${method} ${route} ${status}`)
    assert.deepEqual(lines, [
      'GET /v1/ip/{ipAddress} 200',
      'GET undefined 404',
      'DELETE undefined 405',
      'OPTIONS undefined 204',
      'POST /v1/account/me/keys 400',
      'HEAD /health 200',
    ])
    assert.deepEqual(log.events, [])
  })

  it('contains only the prefix of the key and the network of the client', async () => {
    const forwarded = { 'x-forwarded-for': '198.51.100.23' }
    const answer = await ada.lookUp('81.2.69.160', { from: '203.0.113.77', headers: forwarded })
    await app.send('GET', `${LOCATE}?key=${key}`, { key: `${key}0`, from: '2a00:1:2:3:4::5' })
    const [line] = log.requests
    assert.equal(line?.key, key.slice(0, 16))
    assert.equal(line?.client, '203.0.113.0/24')
    assert.equal(line?.requestId, answer.headers.get('x-request-id'))
    const text = JSON.stringify(log.requests)
    for (const secret of [key.slice(16), '203.0.113.77', '2a00:1:2:3', '81.2.69.160', '198.51']) {
      assert.equal(text.includes(secret), false, secret)
    }
  })
})

describe('an unexpected error', () => {
  it('is 500 without details, and logged with the request id', async () => {
    const find = () => {
      throw new TypeError('secret detail')
    }
    await using broken = await makeApp({ log, replace: ({ geo }) => ({ geo: { ...geo, find } }) })
    log.events.length = 0
    const answer = await broken.send('GET', LOCATE, { key: await broken.makeKey() })
    assert.equal(codeOf(answer), 'INTERNAL')
    assert.equal(answer.text.includes('secret'), false)
    const [event] = log.events.filter(({ level }) => level === 'error')
    assert.equal(log.events.length, 1)
    assert.equal(event?.message, 'unexpected error')
    const requestId = answer.headers.get('x-request-id')
    assert.deepEqual(event?.fields, { requestId, err: new TypeError('secret detail') })
    assert.equal(log.requests.length, 1)
  })
})

/** An endless body, and the number of 1 KB chunks that were read from it. */
function endless() {
  let chunks = 0
  const stream = new ReadableStream<Uint8Array>({
    pull: (controller) => {
      chunks++
      controller.enqueue(new Uint8Array(1024).fill(0x20))
    },
  })
  return { stream, pulled: () => chunks }
}
