import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { jsx } from 'hono/jsx'
import { loadScript } from '../../lib/assets/page-assets.ts'
import { pinnedScriptPath } from '../../lib/contract/telemetry/script.ts'
import { assetHref } from '../../routes/pages/page-assets.ts'
import { NOON } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'

/** Pages and files per client address and minute. */
const CAPACITY = 600

let now = NOON
const app = sharedScene({ now: () => now })

async function load(path: string, from: string, accept = 'text/html') {
  const request = new Request(new URL(path, 'http://127.0.0.1:8787'), { headers: { accept } })
  const response = await app.app.fetch(request, { remoteAddress: from })
  const { status, headers } = response
  return { status, text: await response.text(), header: (name: string) => headers.get(name) }
}

async function useUp(from: string): Promise<void> {
  for (let n = 0; n < CAPACITY; n++) await load('/robots.txt', from)
}

describe('the limit of pages per address', () => {
  it('covers pages, the dashboard, unknown pages and all files that browsers load', async () => {
    const { hash } = await loadScript()
    const files = ['/rum.js', pinnedScriptPath(hash), await assetHref('', 'site.css')]
    const pages = ['/', '/docs', '/robots.txt', '/app', '/app/sign-in', '/nowhere']
    const from = freshClient()
    for (const [n, path] of [...pages, ...files].entries()) {
      const { header } = await load(path, from)
      assert.equal(header('ratelimit-policy'), '"pages";q=600;w=60', path)
      assert.equal(header('ratelimit'), `"pages";r=${CAPACITY - 1 - n};t=1`)
    }
  })

  it('answers 429 until Retry-After, to pages as text, to files as an API error', async () => {
    const from = freshClient()
    await useUp(from)
    const page = await load('/docs', from)
    assert.equal(page.status, 429)
    assert.equal(page.header('ratelimit'), '"pages";r=0;t=1')
    assert.equal(page.header('retry-after'), '1')
    assert.equal(page.header('content-type'), 'text/plain; charset=utf-8')
    assert.equal(page.text, 'Too many requests; try again in 1 s.\n')
    const file = await load(await assetHref('', 'site.css'), from)
    assert.equal(file.status, 429)
    assert.equal(JSON.parse(file.text).error.code, 'RATE_LIMITED')
    now += 1_000
    assert.equal((await load('/docs', from)).status, 200)
  })

  it('counts each /64 of IPv6 as one address', async () => {
    await useUp('2001:db8:0:1::1')
    assert.equal((await load('/docs', '2001:db8:0:1:ffff::2')).status, 429)
    assert.equal((await load('/docs', '2001:db8:0:2::1')).status, 200)
  })

  it('leaves out the API and /health', async () => {
    const from = freshClient()
    await useUp(from)
    assert.equal((await load('/docs', from)).status, 429)
    assert.equal((await load('/health', from)).status, 200)
    assert.equal((await load('/health', from)).header('ratelimit'), null)
    assert.equal((await load('/v1', from)).header('ratelimit'), '"per-address";r=59;t=1')
  })
})

describe('a page or part that is the same for every visitor', () => {
  it('is rendered once', async (t) => {
    const paths = ['/', '/docs']
    for (const path of paths) await load(path, freshClient())
    const rendering = t.mock.method(Object.getPrototypeOf(jsx('p', {})), 'toStringToBuffer')
    await load('/docs', freshClient())
    assert.equal(rendering.mock.callCount(), 0)
    await load('/', freshClient())
    const rendered = rendering.mock.calls.map((call: { this: unknown }) => Object(call.this).tag)
    assert.ok(rendered.includes('main'))
    assert.equal(rendered.includes('table'), false)
  })
})
