import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { makeApp, NOON } from '../support/helpers.ts'
import { cookieOf, signInNewUser, visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'
import { PASSWORD, signUp } from '../support/sign-in.ts'

const app = freshScene()
const ada = app.user('ada')

describe('a sign-in', () => {
  // RFC 6265bis, section 4.1.3: browsers refuse a __Host- cookie from another host or for another path.
  for (const [baseUrl, prefix, flagged] of [
    ['https://geo.example', '__Host-', ['Path=/', 'SameSite=Lax', 'Secure']],
    ['https://geo.example/base', '__Secure-', ['Path=/base/app', 'SameSite=Lax', 'Secure']],
    ['http://127.0.0.1:8787', '', ['Path=/app', 'SameSite=Lax']],
  ] as const) {
    it(`sets cookies hidden from scripts and other sites, which no other can set: ${baseUrl}`, async () => {
      await using app = await makeApp({ env: { MERIDIAN_BASE_URL: baseUrl } })
      await signUp(app)
      const form = { email: 'ada@example.com', password: PASSWORD }
      const { status, headers } = await visitPage(app, '/app/sign-in', { form })
      assert.equal(status, 303)
      const cookies = headers.getSetCookie().map((cookie) => cookie.split('; '))
      const names = cookies.map(([pair = '']) => pair.split('=', 1)[0])
      assert.deepEqual(names, [`${prefix}meridian_dashboard`, `${prefix}meridian_device`])
      for (const [at, [, ...flags]] of cookies.entries()) {
        const age = ['Max-Age=604800', 'Max-Age=31536000'][at]
        assert.deepEqual(flags.sort(), ['HttpOnly', age, ...flagged])
      }
    })
  }

  it('ends the session whose cookie it replaces, and no other', async () => {
    const first = await signInNewUser(app)
    const form = { email: 'ada@example.com', password: PASSWORD }
    const second = cookieOf(await visitPage(app, '/app/sign-in', { form }))
    const page = await visitPage(app, '/app/sign-in', { form, cookie: first })
    const statuses = []
    for (const cookie of [first, second, cookieOf(page)]) {
      statuses.push((await visitPage(app, '/app', { cookie })).status)
    }
    assert.deepEqual(statuses, [303, 200, 200])
  })
})

describe('two session cookies', () => {
  it('lead into neither account, and both stay until the user removes them', async () => {
    const own = await ada.enter()
    const other = await app.user('eve').enter()
    for (const cookie of [`${own}; ${other}`, `${other};${own}`, `${own}; ${own}`]) {
      const { status, html, headers } = await visitPage(app, '/app/account', { cookie })
      assert.equal(status, 400)
      assert.match(html, /more than one cookie for this session/)
      assert.doesNotMatch(html, /@example\.com/)
      assert.equal(headers.get('set-cookie'), null)
      const form = { name: 'planted', type: 'secret' }
      assert.equal((await visitPage(app, '/app/keys', { cookie, form })).status, 400)
    }
    assert.doesNotMatch((await ada.visit('/app/keys')).html, /planted/)
  })

  it('are not accepted without the prefix once the service has https', async () => {
    await using app = await makeApp({ env: { MERIDIAN_BASE_URL: 'https://geo.example' } })
    const cookie = await app.user('ada').enter()
    assert.match(cookie, /^__Host-/)
    assert.equal((await visitPage(app, '/app', { cookie })).status, 200)
    const planted = { cookie: cookie.replace('__Host-', '') }
    assert.equal((await visitPage(app, '/app', planted)).location, '/app/sign-in')
  })
})

describe('two device cookies', () => {
  it('make the browser known to no account', async () => {
    await signUp(app)
    const device = `meridian_device=${await app.services.devices.remember('ada@example.com', '')}`
    for (let n = 0; n < 20; n++) app.services.limits.signIns.take('ada@example.com', NOON)
    const form = { email: 'ada@example.com', password: PASSWORD }
    const enter = async (cookie: string) =>
      (await visitPage(app, '/app/sign-in', { form, cookie })).status
    assert.equal(await enter(`${device}; meridian_device=planted`), 429)
    assert.equal(await enter(device), 303)
  })
})
