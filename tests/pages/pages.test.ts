import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { POLICIES } from '../../lib/limits/rate-limiter.ts'
import { parseAddress } from '../../lib/parts/net/address.ts'
import type { Services } from '../../lib/services/services.ts'
import { makeApp, recordingLog, type TestApp } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'

const LONDON = '81.2.69.160'
const CSP =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

/** One page of each kind. */
const REFERENCE = ['/docs', '/docs/operations/createKey', '/docs/guides/limits', '/docs?q=city']

const log = recordingLog()
const app = sharedScene({ log })

interface LoadOptions extends RequestInit {
  readonly from?: string
  readonly in?: TestApp
}

async function load(path: string, { from, in: other, ...init }: LoadOptions = {}) {
  const request = new Request(new URL(path, 'http://127.0.0.1:8787'), init)
  const { app: hono } = other ?? app
  const response = await hono.fetch(request, { remoteAddress: from ?? freshClient() })
  const { status, headers } = response
  return { response, status, headers, html: await response.text() }
}

/** All tags, without the value of the input. */
function tagsOf(html: string): string[] {
  return (html.match(/<[^>]*>/g) ?? []).map((tag) => tag.replace(/ value="[^"]*"/, ''))
}

describe('for browsers and search engines', () => {
  it('public pages have a description and a preview, error pages have none', async () => {
    for (const path of ['/', '/docs']) {
      const { html } = await load(path)
      assert.match(html, /<meta name="description" content="[^"]{40,160}"/, path)
      assert.match(html, /<meta property="og:description" content="[^"]+"/, path)
    }
    const { html } = await load('/nothing', { headers: { accept: 'text/html' } })
    assert.doesNotMatch(html, /description/)
  })

  it('the icon is also where browsers look for it beside JSON', async () => {
    const { status, headers, html } = await load('/favicon.ico')
    assert.deepEqual([status, headers.get('content-type')], [200, 'image/svg+xml'])
    assert.match(html, /^<svg/)
    assert.match(headers.get('cache-control') ?? '', /max-age=86400/)
  })

  it('security.txt names the address for inquiries, if there is one (RFC 9116)', async () => {
    const path = '/.well-known/security.txt'
    assert.equal((await load(path)).status, 404)
    await using other = await makeApp({
      env: {
        MERIDIAN_CONTACT: 'mailto:help@shop.example',
        MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:1',
      },
    })
    const { status, headers, html } = await load(path, { in: other })
    assert.deepEqual([status, headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
    assert.equal(
      html,
      'Contact: mailto:help@shop.example\nExpires: 2026-04-15T12:00:00.000Z\nCanonical: http://127.0.0.1:8787/.well-known/security.txt\n',
    )
  })
})

describe('pages', () => {
  it('allow only files of this service', async () => {
    for (const path of ['/', ...REFERENCE, '/nothing']) {
      const { headers } = await load(path, { headers: { accept: 'text/html' } })
      assert.equal(headers.get('content-security-policy'), CSP, path)
      assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      assert.equal(headers.get('referrer-policy'), 'same-origin')
      assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin')
      assert.equal(headers.get('cross-origin-resource-policy'), 'same-origin')
      assert.match(headers.get('permissions-policy') ?? '', /geolocation=\(\)/)
      assert.equal(headers.get('cache-control'), 'no-store')
      assert.equal(headers.get('access-control-allow-origin'), null)
    }
  })

  it('contain no inline scripts or styles', async () => {
    for (const path of ['/', ...REFERENCE]) {
      const { html } = await load(path)
      assert.doesNotMatch(html, /<style|\sstyle=|\son\w+=/)
      for (const [tag] of html.matchAll(/<script[^>]*>/g)) assert.match(tag, / src="\/assets\//)
    }
  })

  it('answer HEAD like GET, and other methods with 405', async () => {
    for (const path of ['/', ...REFERENCE, '/docs/search.json', '/robots.txt']) {
      const head = await load(path, { method: 'HEAD' })
      assert.deepEqual([head.status, head.html], [200, ''])
      const posted = await load(path, { method: 'POST' })
      assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
    }
  })

  it('ignore the Host header', async () => {
    for (const path of ['/', ...REFERENCE]) {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' }
      const { html } = await load(path, { headers })
      assert.doesNotMatch(html, /evil/)
    }
  })

  it('link to paths below the base URL', async () => {
    await using mounted = await makeApp({ env: { MERIDIAN_BASE_URL: 'https://host.example/geo' } })
    for (const path of ['/', ...REFERENCE]) {
      const { html } = await load(path, { in: mounted })
      const paths = [...html.matchAll(/ (?:href|src|action)="(\/[^"]*)"/g)].map(([, link]) => link)
      assert.ok(paths.length > 5)
      for (const link of paths) assert.match(link ?? '', /^\/geo\//)
    }
  })

  it('answer people with a 404 page, but API paths with JSON', async () => {
    const accept = 'text/html,application/xhtml+xml'
    const { status, html } = await load('/nothing', { headers: { accept } })
    assert.equal(status, 404)
    assert.match(html, /<h1>Page not found<\/h1>/)
    for (const path of ['/v1/nothing', '/api/x', '/.well-known/security.txt', '/health/x']) {
      const answer = await load(path, { headers: { accept } })
      assert.equal(answer.headers.get('content-type'), 'application/json', path)
    }
    assert.match((await load('/nothing')).html, /"NOT_FOUND"/)
  })

  it('log the beginning of an unknown path', async () => {
    for (const headers of [{ accept: 'text/html' }, { accept: '*/*' }]) {
      await load('/wp-admin/setup/deep', { headers })
      const { route, path, status } = log.requests.at(-1) ?? {}
      assert.deepEqual([route, path, status], [undefined, '/wp-admin/setup/…', 404])
    }
    await load('/v1/ip/1.1.1.1', { method: 'PUT' })
    assert.equal(log.requests.at(-1)?.path, '/v1/ip/…')
    await load('/')
    assert.equal(log.requests.at(-1)?.path, undefined)
  })

  it('keep results out of search engines', async () => {
    const { headers, html } = await load('/robots.txt')
    assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8')
    assert.match(html, /^Disallow: \/\?ip=$/m)
  })

  it('do not reveal internal errors', async () => {
    const list = () => assert.fail('secret detail')
    const replace = ({ geo }: Services) => ({ geo: { ...geo, list } })
    await using broken = await makeApp({ log, replace })
    const { status, html } = await load('/', { in: broken })
    assert.equal(status, 500)
    assert.match(html, /Something went wrong/)
    assert.doesNotMatch(html, /secret detail/)
    assert.equal(log.events.at(-1)?.message, 'unexpected error')
  })
})

describe('GET /', () => {
  it('locates the visitor', async () => {
    const { status, html } = await load('/', { from: LONDON })
    assert.equal(status, 200)
    assert.match(html, /Your address.*81\.2\.69\.160.*London, England, United Kingdom/s)
  })

  it('looks up a typed address in any spelling', async () => {
    for (const text of [LONDON, `%20${LONDON}%20`]) {
      const { status, html } = await load(`/?ip=${text}`)
      assert.equal(status, 200)
      assert.match(html, /Looked up.*London, England, United Kingdom/s)
    }
    assert.match((await load('/?ip=::FFFF:81.2.69.160')).html, /London/)
  })

  it('says that there is no data for an address', async () => {
    const { status, html } = await load('/?ip=10.0.0.1')
    assert.equal(status, 200)
    assert.match(html, /No data for this address/)
  })

  it('refuses an invalid address, and escapes it', async () => {
    const { status, html } = await load(`/?ip=${encodeURIComponent('<script>alert(1)</script>')}`)
    assert.equal(status, 400)
    assert.match(html, /<q>&lt;script&gt;alert\(1\)&lt;\/script&gt;<\/q>/)
    assert.match(html, /aria-invalid="true" aria-describedby="look-up-error"/)
  })

  it('has the same tags for any input', async () => {
    const typed = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('<', '>', '"', "'", '&', '/', '=', ' ', 'a', ';') }),
    )
    const expected = tagsOf((await load('/?ip=x')).html)
    await fc.assert(
      fc.asyncProperty(typed, async (text) => {
        fc.pre(text.trim() !== '' && parseAddress(text.trim()) === null)
        const { html } = await load(`/?ip=${encodeURIComponent(text)}`)
        assert.deepEqual(tagsOf(html), expected)
      }),
      { numRuns: 60 },
    )
  })

  it('limits look-ups per address, but not visits', async () => {
    const from = freshClient()
    for (let n = 0; n < POLICIES.address.capacity; n++) {
      assert.equal((await load(`/?ip=${LONDON}`, { from })).status, 200)
    }
    const { status, headers, html } = await load(`/?ip=${LONDON}`, { from })
    assert.equal(status, 429)
    assert.equal(headers.get('retry-after'), '1')
    assert.match(html, /Try again in 1 second\./)
    assert.equal((await load('/', { from })).status, 200)
  })

  it('shows plans, databases and their attributions', async () => {
    const { html } = await load('/')
    assert.match(html, /<h3>Starter<\/h3>.*?<dd>25,000<\/dd>.*?<dd>120<\/dd>/)
    assert.match(html, /GeoLite2 data created by MaxMind.*<a href="https:\/\/www\.maxmind\.com">/)
    assert.doesNotMatch(html, /Demo/)
  })

  it('gives its script the demo key', async () => {
    const key = await app.services.openDemo()
    assert.ok((await load('/')).html.includes(`data-key="${key}"`))
  })

  it('has a form without a key if there is no demo key', async () => {
    await using plain = await makeApp({ env: { MERIDIAN_BASE_URL: 'http://geo.example' } })
    const { html } = await load(`/?ip=${LONDON}`, { in: plain })
    assert.doesNotMatch(html, /data-key/)
    assert.match(html, /<form.*London/s)
  })

  it('has no form and locates only the visitor if the demo is off', async () => {
    await using off = await makeApp({ env: { MERIDIAN_DEMO: '0' } })
    const { html } = await load(`/?ip=${LONDON}`, { in: off })
    assert.doesNotMatch(html, /id="look-up"|\?ip=|<script|London/)
    assert.match((await load('/', { in: off, from: LONDON })).html, /London/)
  })
})

describe('page assets', () => {
  const paths = async () => {
    const { html } = await load('/docs')
    const found = [...html.matchAll(/"(\/assets\/[^"]+)"/g)].map(([, path]) => path ?? '')
    return [...new Set(found)]
  }

  it('are cached for a year at an address that changes with their content', async () => {
    const found = await paths()
    assert.equal(found.length, 5)
    for (const path of found) {
      const { status, headers } = await load(path)
      assert.equal(status, 200, path)
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable')
      assert.equal(headers.get('x-content-type-options'), 'nosniff')
      const type = headers.get('content-type') ?? ''
      assert.match(type, /^(text\/(css|javascript); ch|image\/svg\+xml$|font\/woff2$)/)
      const tag = headers.get('etag') ?? ''
      assert.equal((await load(path, { headers: { 'if-none-match': tag } })).status, 304)
      const zipped = await load(path, { headers: { 'accept-encoding': 'gzip' } })
      assert.equal(zipped.headers.get('content-encoding'), 'gzip')
    }
  })

  it('answer 404 at any other address', async () => {
    const [first = ''] = await paths()
    const wrong = [
      first.replace(/\.[0-9a-f]{16}\./, '.0123456789abcdef.'),
      '/assets/constructor.0123456789abcdef.js',
      '/assets/site.css',
      '/assets/..%2fpackage.json',
      '/assets/',
    ]
    for (const path of wrong) {
      const { status, headers } = await load(path)
      assert.equal(status, 404, path)
      assert.equal(headers.get('cache-control'), 'no-store')
    }
    assert.equal((await load(first, { method: 'POST' })).status, 405)
  })
})
