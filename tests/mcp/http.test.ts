import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { recordingLog } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'

const PAGE = 'https://tools.example'
const LISTING = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

const log = recordingLog()
let key: string
const app = sharedScene({ env: { MERIDIAN_CORS_ORIGINS: PAGE }, log }, async () => {
  key = await ada.key()
})
const ada = app.user('ada')

interface Sent {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly from?: string
  readonly signal?: AbortSignal
}

/** Sends a message as a client of the protocol does. A text is sent as it is. */
async function send({ method = 'POST', body, headers, from = freshClient(), signal }: Sent) {
  const request = new Request('http://127.0.0.1:8787/mcp', {
    method,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    ...(signal && { signal }),
  })
  const response = await app.app.fetch(request, { remoteAddress: from })
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? undefined : JSON.parse(text),
  }
}

const call = (ipAddress: string) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'locateAddress', arguments: { ipAddress } },
})

/** A message of the revision 2026-07-28, with its headers. */
function modern(method: string, params: object = {}) {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return {
    body: { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } },
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method },
  }
}

describe('/mcp', () => {
  it('leads a person who opens it to the guide', async () => {
    const request = new Request('http://127.0.0.1:8787/mcp', { headers: { accept: 'text/html' } })
    const { status, headers } = await app.app.fetch(request, { remoteAddress: '198.51.100.1' })
    assert.deepEqual([status, headers.get('location')], [303, '/docs/guides/assistants'])
  })

  it('has neither streams nor sessions: other methods are 405', async () => {
    for (const method of ['GET', 'HEAD', 'DELETE', 'PUT']) {
      const { status, headers } = await send({ method })
      assert.equal(status, 405, method)
      assert.equal(headers.get('allow'), 'POST, OPTIONS')
    }
    const { headers } = await send({ body: LISTING })
    assert.equal(headers.get('mcp-session-id'), null)
    assert.equal(headers.get('content-type'), 'application/json')
  })

  it('is one line in the log, with the key that calls a tool', async () => {
    log.requests.length = 0
    const headers = { 'x-api-key': key }
    assert.equal((await send({ body: call('81.2.69.160'), headers })).status, 200)
    const [line, ...others] = log.requests
    assert.partialDeepStrictEqual(line, { method: 'POST', route: '/mcp', status: 200 })
    assert.ok(key.startsWith(line?.key ?? '-'))
    assert.deepEqual(others, [])
  })

  it('ends a request for notifications at once', async () => {
    const { status, body } = await send(modern('subscriptions/listen', { notifications: {} }))
    assert.equal(status, 200)
    assert.equal(body.error.code, -32_603)
  })

  it('answers a notification with 202', async () => {
    const message = { jsonrpc: '2.0', method: 'notifications/initialized' }
    const { status, body } = await send({ body: message })
    assert.deepEqual({ status, body }, { status: 202, body: undefined })
  })

  it('agrees on a revision of the protocol without batches', async () => {
    const wanted = { '2025-06-18': '2025-06-18', '2024-11-05': '2025-11-25' }
    for (const [protocolVersion, agreed] of Object.entries(wanted)) {
      const clientInfo = { name: 'test', version: '1.0.0' }
      const params = { protocolVersion, capabilities: {}, clientInfo }
      const { body } = await send({ body: { ...LISTING, method: 'initialize', params } })
      assert.equal(body.result.protocolVersion, agreed)
    }
  })

  it('refuses what the protocol forbids', async () => {
    const version = (name: string) => ({ 'mcp-protocol-version': name })
    const mismatch = { ...modern('tools/list').headers, 'mcp-method': 'tools/call' }
    const refused: [Sent, number][] = [
      [{ body: [LISTING] }, 400],
      [{ body: '{' }, 400],
      [{ body: '' }, 400],
      [{ body: 'null' }, 400],
      [{ body: { id: 1, method: 'tools/list' } }, 400],
      [{ body: LISTING, headers: version('1999-01-01') }, 400],
      [{ body: LISTING, headers: version('2026-07-28') }, 400],
      [{ ...modern('tools/list'), headers: mismatch }, 400],
      [modern('tools/unknown'), 404],
      [{ body: LISTING, headers: { 'content-type': 'text/plain' } }, 415],
      [{ body: LISTING, headers: { accept: 'text/html' } }, 406],
      [{ body: ' '.repeat(600_001) }, 413],
    ]
    for (const [sent, expected] of refused) {
      const { status } = await send(sent)
      assert.equal(status, expected, JSON.stringify(sent).slice(0, 200))
    }
  })

  it('refuses pages of other origins, against DNS rebinding', async () => {
    for (const origin of ['https://evil.example', 'null', 'http://127.0.0.1:8788', '']) {
      const { status, body } = await send({ body: LISTING, headers: { origin } })
      assert.equal(status, 403, origin)
      assert.equal(body.error.code, 'ORIGIN_NOT_ALLOWED')
    }
  })

  it('answers its own pages and those of listed origins, which can read the answers', async () => {
    for (const origin of ['http://127.0.0.1:8787', PAGE]) {
      const { status, headers } = await send({ body: LISTING, headers: { origin } })
      assert.equal(status, 200)
      assert.equal(headers.get('access-control-allow-origin'), origin)
      assert.equal(headers.get('vary'), 'Origin')
      const refused = await send({ body: '{', headers: { origin } })
      assert.equal(refused.headers.get('access-control-allow-origin'), origin)
    }
  })

  it('answers preflights of these pages alone', async () => {
    const allowed = await send({ method: 'OPTIONS', headers: { origin: PAGE } })
    assert.equal(allowed.status, 204)
    assert.equal(allowed.headers.get('access-control-allow-origin'), PAGE)
    assert.match(allowed.headers.get('access-control-allow-headers') ?? '', /Mcp-Method/)
    const other = await send({ method: 'OPTIONS', headers: { origin: 'https://evil.example' } })
    assert.equal(other.headers.get('access-control-allow-origin'), null)
  })

  it('answers a call without a valid key like the API', async () => {
    for (const headers of [{}, { 'x-api-key': 'nonsense' }, { authorization: 'Bearer nonsense' }]) {
      const { status, headers: answered, body } = await send({ body: call('8.8.8.8'), headers })
      assert.equal(status, 401)
      assert.match(answered.get('www-authenticate') ?? '', /^Bearer /)
      assert.equal(body.error.code, 'UNAUTHORIZED')
    }
  })

  it('counts what is not a call like requests without a key', async () => {
    const from = freshClient()
    for (let n = 60; n > 0; n -= 1) {
      const { status, headers } = await send({ body: LISTING, from })
      assert.equal(status, 200)
      assert.match(headers.get('ratelimit') ?? '', new RegExp(`^"per-address";r=${n - 1};`))
    }
    const headers = { 'x-api-key': key }
    for (const body of [LISTING, '{', [LISTING], call('me')]) {
      const { status, headers: answered } = await send({ body, headers, from })
      assert.equal(status, 429, JSON.stringify(body))
      assert.match(answered.get('retry-after') ?? '', /^\d+$/)
    }
    const { status, headers: answered } = await send({ body: call('8.8.8.8'), headers, from })
    assert.equal(status, 200)
    assert.match(answered.get('ratelimit') ?? '', /^"per-key";/)
  })

  it('names the request of the client in its answer', async () => {
    const id = '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01'
    const headers = { 'x-api-key': key, 'x-request-id': id }
    const { headers: answered, body } = await send({ body: call('8.8.8.8'), headers })
    assert.equal(answered.get('x-request-id'), id)
    assert.equal(body.result.structuredContent.meta.requestId, id)
  })

  it('ends the request of a client that has left', async () => {
    const leaving = new AbortController()
    const answer = send({ ...modern('tools/list'), signal: leaving.signal })
    leaving.abort()
    await answer.catch((error) => assert.equal(error.name, 'AbortError'))
  })
})
