import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { byVital } from '../../../lib/contract/telemetry/metrics.ts'
import { RumSummary } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../../support/helpers.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import type { SendOptions } from '../../support/scene/send.ts'

const ORIGIN = 'https://shop.example'
const LCP = { metrics: { lcp: 1200 } }

let key: string
const app = sharedScene({}, async () => {
  key = await ada.key()
  await addSite(app, key, ORIGIN)
})
const ada = app.user('ada')
const eve = app.user('eve')

async function addSite(to: TestApp, owner: string, name: string): Promise<void> {
  const { status } = await to.send('POST', '/v1/account/me/sites', { key: owner, body: { name } })
  assert.equal(status, 201)
}

function post(body: unknown, options: SendOptions = {}, to = app) {
  const headers = { origin: ORIGIN, ...options.headers }
  return to.send('POST', '/v1/telemetry/rum', { ...options, body, headers })
}

async function summary(query = '', owner = key, from = app) {
  const path = `/v1/telemetry/rum/summary?domain=shop.example${query}`
  const { status, body } = await from.send('GET', path, { key: owner })
  assert.equal(status, 200)
  return v.parse(RumSummary, body)
}

describe('POST /v1/telemetry/rum', () => {
  it('stores a beacon, which the next summary includes', async () => {
    const body = { deviceType: 'mobile', metrics: { lcp: 1840.5, cls: 0.02, fid: 3, unknown: 7 } }
    const { status, headers } = await post(body, { from: '81.2.69.160' })
    assert.equal(status, 204)
    assert.equal(headers.get('ratelimit-policy'), '"beacons";q=100;w=60')
    const { period, metrics } = await summary('&device=mobile')
    assert.deepEqual(period, { from: '2026-01-08T12', to: '2026-01-15T12' })
    assert.deepEqual(metrics, [
      {
        hour: '2026-01-15T12',
        country: 'GB',
        deviceType: 'mobile',
        sampleCount: 1,
        ...byVital(() => ({ p50: null, p75: null, p95: null })),
        lcp: { p50: 1840.5, p75: 1840.5, p95: 1840.5 },
        cls: { p50: 0.02, p75: 0.02, p95: 0.02 },
        fid: { p50: 3, p75: 3, p95: 3 },
      },
    ])
  })

  /** For each code: what is refused with it, the body and the headers. */
  const refused: Readonly<Record<string, readonly [string, unknown, Record<string, string>?][]>> = {
    PAYLOAD_TOO_LARGE: [
      ['a body over 4 kB, before any other check', 'x'.repeat(4097), { origin: 'null' }],
    ],
    ORIGIN_NOT_ALLOWED: [
      ['a null Origin', LCP, { origin: 'null' }],
      ['an empty Origin', LCP, { origin: '' }],
      ['an Origin without a scheme', LCP, { origin: 'shop.example' }],
      ['another origin', LCP, { origin: 'https://evil.example' }],
      ['an origin with the same ending', LCP, { origin: 'https://myshop.example' }],
      ['a subdomain', LCP, { origin: 'https://www.shop.example' }],
      ['another scheme', LCP, { origin: 'http://shop.example' }],
      ['another port', LCP, { origin: 'https://shop.example:8443' }],
      ['an app of Capacitor', LCP, { origin: 'capacitor://localhost' }],
      ['an app of Ionic', LCP, { origin: 'ionic://localhost', referer: '' }],
      ['an app of Tauri', LCP, { origin: 'Tauri://localhost', referer: 'tauri://localhost/' }],
      ['a Referer of another origin', LCP, { referer: 'https://evil.example/' }],
      ['a Referer that is not a URL', LCP, { referer: 'shop' }],
      ['invalid JSON of another origin', '{', { origin: 'https://evil.example' }],
    ],
    BAD_REQUEST: [
      ['invalid JSON', '{'],
      ['an empty body', ''],
      ['an array as the body', '[]'],
      ['neither metrics nor errors', { path: '/' }],
      ['empty metrics', { metrics: {} }],
      ['an empty list of errors', { errors: [] }],
      ['a text as a metric', { metrics: { lcp: '12' } }],
      ['a query in the path', { ...LCP, path: '/a?b=c' }],
      ['a long path', { ...LCP, path: `/${'a'.repeat(500)}` }],
      ['an unknown device', { ...LCP, deviceType: 'fridge' }],
      ['eleven errors', { errors: Array(11).fill({ message: 'x' }) }],
      ['an error without a message', { errors: [{}] }],
      ['a list as the attribution', { ...LCP, attribution: [] }],
      ['a number as an element', { ...LCP, attribution: { lcp: 1 } }],
    ],
  }
  for (const [code, cases] of Object.entries(refused))
    for (const [name, body, headers = {}] of cases)
      it(`refuses ${name}`, async () => {
        assert.equal(codeOf(await post(body, { headers })), code)
      })

  it('refuses a missing Origin', async () => {
    const answer = await app.send('POST', '/v1/telemetry/rum', { body: LCP })
    assert.equal(codeOf(answer), 'ORIGIN_NOT_ALLOWED')
  })

  it('limits the size of a body without a Content-Length', async () => {
    const pull = (stream: ReadableStreamDefaultController) => stream.enqueue(new Uint8Array(1000))
    assert.equal((await post(new ReadableStream({ pull }))).status, 413)
    const { length } = JSON.stringify(LCP)
    assert.equal((await post(JSON.stringify(LCP) + ' '.repeat(4096 - length))).status, 204)
  })

  it('allows 100 beacons a minute per address, before it checks the origin', async () => {
    const from = '198.51.100.7'
    const headers = { origin: 'https://evil.example' }
    for (let n = 0; n < 100; n++) assert.equal((await post(LCP, { from, headers })).status, 403)
    const answer = await post(LCP, { from })
    assert.equal(answer.status, 429)
    assert.equal(answer.headers.get('retry-after'), '1')
    assert.equal(answer.headers.get('access-control-allow-origin'), ORIGIN)
  })

  it('accepts any Content-Type and a Referer with the same origin', async () => {
    for (const type of ['text/plain;charset=UTF-8', 'application/json', 'image/png', '']) {
      const headers = { 'content-type': type, referer: `${ORIGIN}/cart?id=1` }
      assert.equal((await post(LCP, { headers })).status, 204)
    }
  })

  it('lets pages of the site send beacons and read all answers', async () => {
    for (const body of [LCP, '{']) {
      const { headers } = await post(body)
      assert.equal(headers.get('access-control-allow-origin'), ORIGIN)
      assert.equal(headers.get('access-control-allow-credentials'), 'true')
      assert.equal(headers.get('cross-origin-resource-policy'), 'cross-origin')
    }
    const elsewhere = await post(LCP, { headers: { origin: 'https://evil.example' } })
    assert.equal(elsewhere.headers.get('access-control-allow-origin'), '*')
    assert.equal(elsewhere.headers.get('access-control-allow-credentials'), null)
    const headers = { origin: ORIGIN, 'access-control-request-method': 'POST' }
    const preflight = await app.send('OPTIONS', '/v1/telemetry/rum', { headers })
    assert.equal(preflight.headers.get('access-control-allow-origin'), ORIGIN)
    assert.equal(preflight.headers.get('access-control-allow-credentials'), 'true')
    assert.match(preflight.headers.get('access-control-allow-headers') ?? '', /Content-Type/)
    assert.equal(preflight.headers.get('access-control-allow-methods'), 'POST')
  })

  it('answers 503 and stores nothing if the database cannot be written', async () => {
    await using own = await makeApp()
    const owner = await own.makeKey()
    await addSite(own, owner, ORIGIN)
    own.setReadOnly(true)
    const answer = await post(LCP, {}, own)
    own.setReadOnly(false)
    assert.equal(codeOf(answer), 'SERVICE_UNAVAILABLE')
    assert.deepEqual((await summary('', owner, own)).metrics, [])
    assert.equal((await post(LCP, {}, own)).status, 204)
    assert.equal((await summary('', owner, own)).metrics[0]?.sampleCount, 1)
  })

  it('answers 503 if the database cannot be read', async () => {
    const fault = Object.assign(new Error('the connection is closed'), { code: '08006' })
    await using own = await makeApp({
      replace: ({ rum }) => ({ rum: { ...rum, findSite: () => Promise.reject(fault) } }),
    })
    assert.equal(codeOf(await post(LCP, {}, own)), 'SERVICE_UNAVAILABLE')
  })
})

describe('a beacon', () => {
  let own: TestApp
  let owner: string
  before(async () => {
    own = await makeApp()
    owner = await own.makeKey()
    await addSite(own, owner, ORIGIN)
  })
  after(() => own.close())

  it('loses only the values that are out of range', async () => {
    const metrics = { lcp: -1, inp: 600_001, cls: 100.5, ttfb: 600_000, fid: 0 }
    assert.equal((await post({ metrics }, {}, own)).status, 204)
    assert.equal((await post('{"metrics":{"lcp":1e400}}', {}, own)).status, 204)
    const rows = (await summary('', owner, own)).metrics
    assert.equal(rows.length, 1)
    assert.equal(rows[0]?.sampleCount, 1)
    assert.equal(rows[0]?.lcp.p50, null)
    assert.equal(rows[0]?.ttfb.p95, 600_000)
    assert.equal(rows[0]?.fid.p50, 0)
  })

  it('adds no row to the summary if it has only errors or comes from a bot', async () => {
    const before = await summary('', owner, own)
    const bot = { 'user-agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' }
    assert.equal((await post({ errors: [{ message: 'x' }] }, {}, own)).status, 204)
    assert.equal((await post(LCP, { headers: bot }, own)).status, 204)
    assert.deepEqual(await summary('', owner, own), before)
  })

  it('counts for one of the users with the site', async () => {
    const other = await own.makeKey({ email: 'bob@example.com' })
    await addSite(own, other, ORIGIN)
    await post({ ...LCP, deviceType: 'tablet' }, {}, own)
    const { metrics } = await summary('&device=tablet', owner, own)
    assert.equal(metrics[0]?.sampleCount, 1)
    assert.deepEqual((await summary('', other, own)).metrics, [])
  })

  it('counts once, in order, after a restart', async () => {
    for (const deviceType of ['mobile', 'desktop', 'mobile']) {
      const from = deviceType === 'mobile' ? '81.2.69.160' : '198.51.100.9'
      assert.equal((await post({ ...LCP, deviceType }, { from }, own)).status, 204)
    }
    const before = await summary('', owner, own)
    const keys = before.metrics.map(({ country, deviceType }) => [country, deviceType])
    assert.deepEqual(keys, [
      [null, null],
      [null, 'desktop'],
      [null, 'tablet'],
      ['GB', 'mobile'],
    ])
    own = await own.restart()
    assert.deepEqual(await summary('', owner, own), before)
    await post({ ...LCP, deviceType: 'mobile' }, { from: '81.2.69.160' }, own)
    for (const country of ['GB', 'gb']) {
      const { metrics } = await summary(`&country=${country}`, owner, own)
      assert.equal(metrics[0]?.sampleCount, 3)
    }
  })
})

describe('GET /v1/telemetry/rum/summary', () => {
  const path = '/v1/telemetry/rum/summary'
  it('finds the site by host or origin, in any case', async () => {
    for (const domain of ['shop.example', 'SHOP.example', ORIGIN, `${ORIGIN}/`]) {
      const query = `?domain=${encodeURIComponent(domain)}`
      const { status, body } = await ada.send('GET', path + query)
      assert.equal(status, 200)
      assert.equal(v.parse(RumSummary, body).domain, domain)
    }
  })

  it("answers 404 for sites that are not the caller's", async () => {
    await eve.key()
    for (const domain of ['other.example', 'http://shop.example', 'x'.repeat(300), '*', '..']) {
      const { status } = await ada.send('GET', `${path}?domain=${domain}`)
      assert.equal(status, 404, domain)
    }
    const theirs = await eve.send('GET', `${path}?domain=shop.example`)
    assert.equal(codeOf(theirs), 'NOT_FOUND')
  })

  const periods = [
    ...['from=2026-01-15', 'from=2026-02-30T00&to=2026-03-05T00'],
    ...['from=2026-01-15T12&to=2026-01-15T11', 'from=2025-10-01T00'],
  ]
  const ofShop = ['device=fridge', 'country=gbr', ...periods]
  for (const query of ['', '?domain=', ...ofShop.map((text) => `?domain=shop.example&${text}`)]) {
    it(`refuses ${query || 'no query'}`, async () => {
      assert.equal(codeOf(await ada.send('GET', path + query)), 'BAD_REQUEST')
    })
  }

  it('includes both ends of the period', async () => {
    await using own = await makeApp({ now: () => NOON + 59 * 60_000 })
    const owner = await own.makeKey()
    await addSite(own, owner, ORIGIN)
    await post(LCP, {}, own)
    const count = async (query: string) => (await summary(query, owner, own)).metrics.length
    assert.equal(await count('&from=2026-01-15T12&to=2026-01-15T12'), 1)
    assert.equal(await count('&from=2026-01-15T13&to=2026-01-15T13'), 0)
    assert.equal(await count('&to=2026-01-15T11'), 0)
  })
})
