import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readRows, write } from '../support/database/sql.ts'
import { type AppOptions, makeApp, NOON, recordingLog } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'
import { PASSWORD, signUp } from '../support/sign-in.ts'

const app = freshScene()
const ada = app.user('ada')

const BASE_URL = 'https://geo.example'

/** Other hosts, other paths, and characters that a header cannot contain. */
const HOSTS = ['https://evil.example', '//evil.example']
const ELSEWHERE = [...HOSTS, '/app\\evil', '/application', '/app?x=\u65e5', '/app?x=\u0001']

describe('POST /app/sign-in', () => {
  it('leads to https if the browser sends it over http, where it would drop the cookie', async () => {
    await using app = await makeApp({ env: { MERIDIAN_BASE_URL: BASE_URL } })
    await signUp(app)
    const form = { email: 'ada@example.com', password: PASSWORD, name: 'Ada' }
    const over = (path: string, origin: string) =>
      visitPage(app, path, { form, headers: { origin, 'sec-fetch-site': 'same-origin' } })
    for (const path of ['/app/sign-in', '/app/sign-up']) {
      const { status, html, headers } = await over(path, 'http://192.0.2.7:8787')
      assert.equal(status, 403)
      assert.match(html, /href="https:\/\/geo\.example\/app"/)
      assert.equal(headers.get('set-cookie'), null)
    }
    assert.equal((await over('/app/sign-in', BASE_URL)).status, 303)
    assert.equal((await over('/app/sign-in', 'http://localhost:8787')).status, 303)
  })

  it('refuses a wrong password, and keeps the typed address', async () => {
    await signUp(app)
    const form = { email: 'ada@example.com', password: 'wrong horse' }
    const { status, html, headers } = await visitPage(app, '/app/sign-in', { form })
    assert.equal(status, 401)
    assert.match(html, /Incorrect e-mail address or password/)
    assert.match(html, /value="ada@example.com"/)
    assert.doesNotMatch(html, /wrong horse/)
    assert.equal(headers.get('set-cookie'), null)
  })

  it('is limited per visitor, whose address a proxy sends in its own header', async () => {
    const env = {
      MERIDIAN_TRUSTED_PROXIES: '0.0.0.0/0',
      MERIDIAN_CLIENT_HEADER: 'CF-Connecting-IP',
    }
    await using app = await makeApp({ env })
    const form = { email: 'ada@example.com', password: 'wrong horse' }
    const tryAs = async (visitor: string, at: number) => {
      const headers = { 'cf-connecting-ip': visitor, 'x-forwarded-for': `198.51.100.${at}` }
      return (await visitPage(app, '/app/sign-in', { form, headers })).status
    }
    const { addressSignIns } = app.services.limits
    for (let n = 0; n < 99; n++) addressSignIns.take('203.0.113.7', NOON)
    assert.equal(await tryAs('203.0.113.7', 1), 401)
    assert.equal(await tryAs('203.0.113.7', 2), 429)
    assert.equal(await tryAs('203.0.113.8', 3), 401)
  })

  it('redirects back to the requested page of the dashboard, and nowhere else', async () => {
    await signUp(app)
    const redirected = await visitPage(app, '/app/keys?done=renewed')
    assert.equal(redirected.status, 303)
    assert.equal(redirected.location, '/app/sign-in?next=%2Fapp%2Fkeys%3Fdone%3Drenewed')
    const { html } = await visitPage(app, redirected.location ?? '')
    const next = /name="next" value="([^"]*)"/.exec(html)?.[1] ?? ''
    const form = { email: 'ada@example.com', password: PASSWORD, next }
    const { location } = await visitPage(app, '/app/sign-in', { form })
    assert.equal(location, '/app/keys?done=renewed')
    for (const elsewhere of ELSEWHERE) {
      const query = new URLSearchParams({ next: elsewhere })
      const { html } = await visitPage(app, `/app/sign-in?${query}`)
      assert.match(html, /name="next" value="\/app"/)
    }
  })

  it('starts a session that the sign-out ends for every holder of the cookie', async () => {
    assert.equal((await ada.visit('/app')).status, 200)
    const out = await ada.submit('/app/sign-out')
    assert.equal(out.location, '/app/sign-in')
    assert.match(out.headers.get('set-cookie') ?? '', /Max-Age=0/)
    assert.equal((await ada.visit('/app')).location, '/app/sign-in')
  })
})

describe('a malformed session cookie', () => {
  for (const value of ['%E6%97%A5', 'a%0Ab', 'a%00b', `sk_live_${'0'.repeat(64)}`]) {
    it(`is removed, and leads to the sign-in page: ${value.slice(0, 9)}`, async () => {
      const cookie = `meridian_dashboard=${value}`
      const redirected = await visitPage(app, '/app/keys', { cookie })
      const left = await visitPage(app, '/app/sign-out', { cookie, form: {} })
      for (const { status, headers } of [redirected, left]) {
        assert.equal(status, 303)
        assert.match(headers.get('set-cookie') ?? '', /^meridian_dashboard=; Max-Age=0/)
      }
    })
  }
})

describe('a form of the dashboard', () => {
  it('is refused when another site sends it, even with a cookie', async () => {
    await using app = await makeApp({ env: { MERIDIAN_BASE_URL: BASE_URL } })
    const ada = app.user('ada')
    const form = { name: 'stolen', type: 'secret' }
    const from = async (headers: Record<string, string>) =>
      (await ada.submit('/app/keys', form, { headers })).status
    assert.equal(await from({ 'sec-fetch-site': 'cross-site' }), 403)
    assert.equal(await from({ 'sec-fetch-site': 'same-site' }), 403)
    assert.equal(await from({ 'sec-fetch-site': 'none', origin: BASE_URL }), 403)
    assert.doesNotMatch((await ada.visit('/app/keys')).html, /stolen/)
  })

  it('says which setting is missing if a proxy has rewritten the Host header', async () => {
    const send = async (by: Pick<typeof app, 'app'>) => {
      const headers = { host: '127.0.0.1:8787', origin: 'http://geo.lan', accept: 'text/html' }
      const url = 'http://127.0.0.1:8787/app/sign-in'
      const request = new Request(url, { method: 'POST', headers, body: new URLSearchParams() })
      const answer = await by.app.fetch(request, { remoteAddress: freshClient() })
      assert.equal(answer.status, 403)
      return answer.text()
    }
    assert.match(await send(app), /set MERIDIAN_BASE_URL to the address that the browser shows/)
    await using other = await makeApp({ env: { MERIDIAN_BASE_URL: BASE_URL } })
    assert.match(await send(other), /It is at https:\/\/geo\.example\/app/)
  })

  it('redirects to its page when its address is opened', async () => {
    assert.equal((await ada.visit('/app/sign-out')).location, '/app')
    assert.equal((await ada.visit('/app/billing/checkout')).location, '/app/billing')
    assert.equal((await ada.visit('/app/keys/x/renew')).location, '/app/keys')
    const request = new Request('http://127.0.0.1:8787/app/sign-in', { method: 'PUT' })
    const refused = await app.app.fetch(request, { remoteAddress: '192.0.2.1' })
    assert.equal(refused.status, 405)
    assert.equal(refused.headers.get('allow'), 'GET, HEAD, POST, OPTIONS')
  })

  it('waits for the sign-in if the session has ended, and loses nothing', async () => {
    const name = 'http://127.0.0.1:9400'
    const ended = { cookie: `meridian_dashboard=${'a'.repeat(32)}`, form: { name } }
    for (const sent of [{ form: { name } }, ended]) {
      const { status, html } = await visitPage(app, '/app/sites', sent)
      assert.equal(status, 401)
      assert.match(html, /You are not signed in, so nothing has been changed/)
      assert.match(html, /<a href="\/app\/sign-up" target="_blank"/)
      assert.ok(html.includes(`<input type="hidden" name="name" value="${name}"/>`), html)
      assert.match(html, /<form method="post" action="\/app\/sites">/)
    }
    const { location } = await ada.submit('/app/sites', { name })
    assert.equal(location, '/app/sites?done=added')
  })

  it('is not kept if it has a password: then the page with it is linked', async () => {
    await using app = await makeApp({ env: { MERIDIAN_BASE_URL: 'http://127.0.0.1:8787/geo' } })
    const form = { newEmail: 'new@example.com', emailPassword: PASSWORD }
    const headers = { referer: 'http://127.0.0.1:8787/geo/app/account' }
    const { status, html } = await visitPage(app, '/app/account/email', { form, headers })
    assert.equal(status, 401)
    assert.ok(!html.includes(PASSWORD))
    assert.match(html, /<a href="\/geo\/app\/account">go back to the form/)
    const elsewhere = { referer: 'https://evil.example/geo/evil' }
    const other = await visitPage(app, '/app/account/email', { form, headers: elsewhere })
    assert.match(other.html, /<a href="\/geo\/app">go back to the form/)
  })

  it('is redirected to the sign-in page if a script sent it', async () => {
    const headers = { 'content-type': 'application/json' }
    const { status, location } = await visitPage(app, '/app/batch', { form: { a: 'b' }, headers })
    assert.deepEqual([status, location], [303, '/app/sign-in'])
  })

  it('is checked by its Origin when the browser omits Sec-Fetch-Site', async () => {
    const cookie = await ada.enter()
    const send = async (origin: Record<string, string>) => {
      const body = new URLSearchParams({ name: 'mine' })
      const init = { method: 'POST', headers: { cookie, ...origin }, body }
      const request = new Request('http://127.0.0.1:8787/app/keys', init)
      return (await app.app.fetch(request, { remoteAddress: '192.0.2.1' })).status
    }
    assert.equal(await send({}), 403)
    assert.equal(await send({ origin: 'null' }), 403)
    assert.equal(await send({ origin: 'http://evil.example' }), 403)
    assert.equal(await send({ origin: 'http://127.0.0.1:8787' }), 303)
    assert.equal(await send({ origin: 'http://192.0.2.7:8787', host: '192.0.2.7:8787' }), 303)
    assert.equal(await send({ origin: 'http://192.0.2.7:8787', host: '192.0.2.7' }), 403)
  })
})

const PAGES = ['/app', '/app/keys', '/app/billing', '/app/usage', '/app/look-up?ip=81.2.69.160']

/** Opens the service, and counts how often a session is verified. */
async function openCounting(options: AppOptions = {}) {
  const sessions = { verified: 0 }
  const app = await makeApp({
    ...options,
    replace: ({ findSession }) => ({
      findSession: async (...given) => {
        const user = await findSession(...given)
        sessions.verified += 1
        return user
      },
    }),
  })
  return Object.assign(app, { sessions })
}

describe('a page', () => {
  it('verifies its session once, and is one line in the log', async () => {
    const log = recordingLog()
    await using app = await openCounting({ log })
    const ada = app.user('ada')
    await ada.enter()
    for (const path of PAGES) {
      app.sessions.verified = 0
      log.requests.length = 0
      assert.equal((await ada.visit(path)).status, 200, path)
      assert.equal(app.sessions.verified, 1, path)
      const lines = log.requests.map(({ route, status }) => [route, status])
      assert.deepEqual(lines, [[path.split('?', 1)[0], 200]])
    }
  })

  it('changes nothing if the session ends while the browser is still sending the form', async () => {
    await using app = await openCounting()
    const ada = app.user('ada')
    const cookie = await ada.enter()
    const rest = Promise.withResolvers<Uint8Array>()
    const body = new ReadableStream<Uint8Array>({
      start: async (stream) => {
        stream.enqueue(new TextEncoder().encode('name='))
        stream.enqueue(await rest.promise)
        stream.close()
      },
    })
    const headers = {
      cookie,
      'sec-fetch-site': 'same-origin',
      'content-type': 'application/x-www-form-urlencoded',
    }
    const init: RequestInit = { method: 'POST', headers, body, duplex: 'half' }
    const request = new Request('http://127.0.0.1:8787/app/keys', init)
    app.sessions.verified = 0
    const answer = app.app.fetch(request, { remoteAddress: freshClient() })
    while (app.sessions.verified === 0) await nextTurn()
    await write(app, 'DELETE FROM sessions')
    rest.resolve(new TextEncoder().encode('late'))
    const { status, headers: answered } = await answer
    assert.deepEqual([status, answered.get('location')], [303, '/app/sign-in'])
    assert.deepEqual(await readRows(app, 'SELECT count(*) FROM api_keys'), [[0]])
  })

  it('shows the times of its operations in the metrics', async () => {
    await ada.visit('/app/keys')
    assert.match(app.services.requestTimes.text(), /"\/v1\/account\/me\/keys"/)
  })
})
