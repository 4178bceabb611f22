import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, enter } from '../dashboard.ts'
import { makeApp } from '../helpers.ts'
import { PASSWORD, signUp } from '../sign-in.ts'

const BASE_URL = 'https://geo.example'

/** Other hosts, other paths, and what can be in no header. */
const ELSEWHERE = [
  'https://evil.example',
  '//evil.example',
  '/app\\evil',
  '/application',
  '/app?x=\u65e5',
  '/app?x=\u0001',
]

describe('signing in at the dashboard', () => {
  it('sets a cookie for the dashboard alone, that no script reads and no other site sends', async () => {
    using app = await makeApp({ env: { MERIDIAN_BASE_URL: BASE_URL } })
    await signUp(app)
    const form = { email: 'ada@example.com', password: PASSWORD }
    const { status, headers, location } = await ask(app, '/app/sign-in', { form })
    assert.equal(status, 303)
    assert.equal(location, '/app')
    const [, ...flags] = (headers.get('set-cookie') ?? '').split('; ')
    assert.deepEqual(flags.sort(), [
      'HttpOnly',
      'Max-Age=604800',
      'Path=/app',
      'SameSite=Lax',
      'Secure',
    ])
  })

  it('says what is wrong with a password, and keeps the address that was typed', async () => {
    using app = await makeApp()
    await signUp(app)
    const form = { email: 'ada@example.com', password: 'wrong horse' }
    const { status, html, headers } = await ask(app, '/app/sign-in', { form })
    assert.equal(status, 401)
    assert.match(html, /The e-mail address or the password is not right/)
    assert.match(html, /value="ada@example.com"/)
    assert.doesNotMatch(html, /wrong horse/)
    assert.equal(headers.get('set-cookie'), null)
  })

  it('leads back to the page that was asked for, and nowhere else', async () => {
    using app = await makeApp()
    await signUp(app)
    const asked = await ask(app, '/app/keys?done=renewed')
    assert.equal(asked.status, 303)
    assert.equal(asked.location, '/app/sign-in?next=%2Fapp%2Fkeys%3Fdone%3Drenewed')
    const { html } = await ask(app, asked.location ?? '')
    const next = /name="next" value="([^"]*)"/.exec(html)?.[1] ?? ''
    const form = { email: 'ada@example.com', password: PASSWORD, next }
    const { location } = await ask(app, '/app/sign-in', { form })
    assert.equal(location, '/app/keys?done=renewed')
    for (const elsewhere of ELSEWHERE) {
      const { html } = await ask(app, `/app/sign-in?${new URLSearchParams({ next: elsewhere })}`)
      assert.match(html, /name="next" value="\/app"/)
    }
  })

  it('ends with the session, for everybody who holds its cookie', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    assert.equal((await ask(app, '/app', { cookie })).status, 200)
    const out = await ask(app, '/app/sign-out', { cookie, form: {} })
    assert.equal(out.location, '/app/sign-in')
    assert.match(out.headers.get('set-cookie') ?? '', /Max-Age=0/)
    const again = await ask(app, '/app', { cookie })
    assert.equal(again.location, '/app/sign-in')
  })
})

describe('a cookie that can be no session', () => {
  for (const value of ['%E6%97%A5', 'a%0Ab', 'a%00b', `sk_live_${'0'.repeat(64)}`]) {
    it(`leads to the sign-in, and is taken away: ${value.slice(0, 9)}`, async () => {
      using app = await makeApp()
      const cookie = `meridian_dashboard=${value}`
      const asked = await ask(app, '/app/keys', { cookie })
      const left = await ask(app, '/app/sign-out', { cookie, form: {} })
      for (const { status, headers } of [asked, left]) {
        assert.equal(status, 303)
        assert.match(headers.get('set-cookie') ?? '', /^meridian_dashboard=; Max-Age=0/)
      }
    })
  }
})

describe('a form of the dashboard', () => {
  it('is refused when another site sends it, whatever the cookie', async () => {
    using app = await makeApp({ env: { MERIDIAN_BASE_URL: BASE_URL } })
    const cookie = await enter(app)
    const form = { name: 'stolen', type: 'secret' }
    const from = async (headers: Record<string, string>) =>
      (await ask(app, '/app/keys', { cookie, form, headers })).status
    assert.equal(await from({ 'sec-fetch-site': 'cross-site' }), 403)
    assert.equal(await from({ 'sec-fetch-site': 'same-site' }), 403)
    assert.equal(await from({ 'sec-fetch-site': 'none', origin: BASE_URL }), 403)
    assert.doesNotMatch((await ask(app, '/app/keys', { cookie })).html, /stolen/)
  })

  it('has an address that leads to its page when it is opened', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    for (const [path, page] of [
      ['/app/sign-out', '/app'],
      ['/app/billing/checkout', '/app/billing'],
      ['/app/keys/x/revoke', '/app/keys'],
    ] as const) {
      assert.equal((await ask(app, path, { cookie })).location, page)
    }
    const request = new Request('http://127.0.0.1:8787/app/sign-in', { method: 'PUT' })
    const refused = await app.app.fetch(request, { remoteAddress: '192.0.2.1' })
    assert.equal(refused.status, 405)
    assert.equal(refused.headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
  })

  it('is judged by its origin where the browser tells no more, over plain http', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const send = async (origin: Record<string, string>) => {
      const body = new URLSearchParams({ name: 'mine' })
      const headers = { cookie, ...origin }
      const request = new Request('http://127.0.0.1:8787/app/keys', {
        method: 'POST',
        headers,
        body,
      })
      return (await app.app.fetch(request, { remoteAddress: '192.0.2.1' })).status
    }
    assert.equal(await send({}), 403)
    assert.equal(await send({ origin: 'null' }), 403)
    assert.equal(await send({ origin: 'http://evil.example' }), 403)
    assert.equal(await send({ origin: 'http://127.0.0.1:8787' }), 201)
    assert.equal(await send({ origin: 'http://192.0.2.7:8787', host: '192.0.2.7:8787' }), 201)
    assert.equal(await send({ origin: 'http://192.0.2.7:8787', host: '192.0.2.7' }), 403)
  })
})
