import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { type AppOptions, makeApp, type TestApp } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'

const LONDON = '81.2.69.160'
/** What curl 7.88 sends by itself. */
const CURL = { host: 'localhost:8787', 'user-agent': 'curl/7.88.1', accept: '*/*' }

const app = sharedScene()

interface Asked {
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly method?: string
  readonly from?: string
  readonly httpVersion?: string
}

/** Asks as curl on this machine does, but for what is given. */
async function ask(
  { path = `/${LONDON}`, headers, method = 'GET', from = '127.0.0.1', ...more }: Asked = {},
  { app: hono }: Pick<TestApp, 'app'> = app,
) {
  const url = `http://127.0.0.1:8787${path}`
  const request = new Request(url, { method, headers: { ...CURL, ...headers } })
  const { httpVersion = '1.1' } = more
  const response = await hono.fetch(request, { remoteAddress: from, httpVersion })
  const { status } = response
  return {
    status,
    type: response.headers.get('content-type'),
    response,
    text: await response.text(),
  }
}

/** Fails unless the request is answered as everybody's: with the page, and without a look-up. */
async function assertRefused(asked: Asked, where?: Pick<TestApp, 'app'>): Promise<void> {
  const found = await ask(asked, where)
  assert.equal(found.status, 404, JSON.stringify(asked))
  assert.doesNotMatch(found.text, /London/)
  const home = await ask({ ...asked, path: '/' }, where)
  assert.match(home.text, /^<!doctype html>/, JSON.stringify(asked))
}

describe('a program on this machine', () => {
  it('looks up an address without a key', async () => {
    const { status, type, text, response } = await ask()
    assert.deepEqual([status, type], [200, 'application/json'])
    const { query, location, meta } = JSON.parse(text)
    assert.deepEqual([query.value, location.city], [LONDON, 'London'])
    const requestId = response.headers.get('x-request-id')
    assert.deepEqual(meta, { precision: 'city', requestId })
    assert.equal(response.headers.get('access-control-allow-origin'), null)
  })

  it('looks up an IPv6 address, and gets 404 for one that nobody knows', async () => {
    assert.equal((await ask({ path: '/2a00:1450:4009::1' })).status, 200)
    const { status, text } = await ask({ path: '/10.0.0.1' })
    assert.deepEqual([status, JSON.parse(text).meta.precision], [404, 'none'])
  })

  it('gets its own address as a line, as from echoip', async () => {
    const { status, type, text } = await ask({ path: '/' })
    assert.deepEqual([status, type, text], [200, 'text/plain; charset=utf-8', '127.0.0.1\n'])
    assert.equal((await ask({ path: '/', from: '::1' })).text, '::1\n')
    assert.equal((await ask({ path: '/', from: '::ffff:127.0.0.1' })).text, '127.0.0.1\n')
  })

  it('is known by whatever name of loopback it uses', async () => {
    for (const host of ['localhost', 'LOCALHOST:1', '127.0.0.1:8787', '127.1.2.3', '[::1]:8787'])
      assert.equal((await ask({ headers: { host } })).status, 200, host)
  })

  it('needs a key for the API', async () => {
    assert.equal((await ask({ path: `/v1/ip/${LONDON}` })).status, 401)
  })

  it('gets as much as anybody on the landing page, and from the same limit', async () => {
    await using other = await makeApp()
    const first = await ask({}, other)
    assert.match(first.response.headers.get('ratelimit-policy') ?? '', /^"per-address";q=60;w=60/)
    const page = { path: `/?ip=${LONDON}`, headers: { accept: 'text/html' } }
    for (let sent = 1; sent < 60; sent++) {
      const { status } = await ask(sent % 2 === 0 ? {} : page, other)
      assert.equal(status, 200)
    }
    assert.equal((await ask({}, other)).status, 429)
    assert.equal((await ask(page, other)).status, 429)
  })
})

describe('what may come from elsewhere gets no look-up without a key', () => {
  it('from another machine', async () => {
    for (const from of [LONDON, '10.0.0.1', '::ffff:10.0.0.1', '2001:db8::1'])
      await assertRefused({ from })
  })

  it('through a proxy that says so', async () => {
    for (const name of [
      ...['x-forwarded-for', 'x-forwarded-proto', 'x-forwarded-host', 'x-real-ip', 'forwarded'],
      ...['via', 'cf-connecting-ip', 'fly-client-ip', 'x-request-start', 'cdn-loop'],
    ])
      await assertRefused({ headers: { [name]: '127.0.0.1' } })
  })

  it('through a proxy that speaks HTTP/1.0 or closes its connections, as nginx did by default', async () => {
    await assertRefused({ httpVersion: '1.0' })
    await assertRefused({ headers: { connection: 'close' } })
  })

  it('to another host, as through a proxy that keeps it, or from a page by DNS rebinding', async () => {
    for (const host of [
      ...['geo.example', 'evil.example:8787', 'localhost.evil.example', '127.0.0.1.evil.example'],
      ...['localhost@evil.example', 'meridian', '0.0.0.0:8787', ''],
    ])
      await assertRefused({ headers: { host } })
  })

  it('from a page', async () => {
    for (const [name, value] of [
      ...[['accept', 'text/html'] as const, ['origin', 'https://evil.example'] as const],
      ...[['sec-fetch-mode', 'cors'] as const, ['sec-fetch-site', 'same-origin'] as const],
      ...[['referer', 'http://localhost:8787/'] as const, ['cookie', 'a=b'] as const],
      ['accept-language', 'en'] as const,
    ])
      await assertRefused({ headers: { [name]: value } })
  })

  it('with another method, or with options', async () => {
    assert.equal((await ask({ method: 'POST' })).status, 404)
    assert.equal((await ask({ path: `/${LONDON}?fields=location` })).status, 404)
  })

  const settings: readonly NonNullable<AppOptions['env']>[] = [
    { MERIDIAN_BASE_URL: 'https://geo.example' },
    { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' },
    { HOST: '0.0.0.0' },
    { MERIDIAN_DEMO: '0' },
  ]
  for (const env of settings) {
    it(`with ${JSON.stringify(env)}`, async () => {
      await using other = await makeApp({ env })
      await assertRefused({}, other)
    })
  }
})
