import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ask, cookieOf, enter } from '../dashboard.ts'
import { makeApp } from '../helpers.ts'
import { startMailServer } from '../mail-server.ts'
import { PASSWORD, sendAuth, signIn, signUp } from '../sign-in.ts'

const EMAIL = 'ada@example.com'
const NEW_PASSWORD = `${PASSWORD} 2`

describe('signing up at the dashboard', () => {
  it('makes an account, and one is signed in with it', async () => {
    using app = await makeApp()
    const form = { name: 'Ada', email: EMAIL, password: PASSWORD }
    const page = await ask(app, '/app/sign-up', { form })
    assert.equal(page.location, '/app')
    const { html } = await ask(app, '/app/account', { cookie: cookieOf(page) })
    assert.match(html, /ada@example\.com/)
  })

  it('says what is wrong with what was typed, and keeps it but for the password', async () => {
    using app = await makeApp()
    const form = { name: 'Ada "<b>"', email: EMAIL, password: 'short' }
    const { status, html } = await ask(app, '/app/sign-up', { form })
    assert.equal(status, 400)
    assert.match(html, /role="alert">Password too short/)
    assert.match(html, /value="Ada &quot;&lt;b&gt;&quot;"/)
    assert.doesNotMatch(html, /value="short"/)
  })

  it('is not there where sign-up is off', async () => {
    using app = await makeApp({ env: { MERIDIAN_SIGN_UP: 'closed' } })
    assert.equal((await ask(app, '/app/sign-up')).status, 404)
    assert.doesNotMatch((await ask(app, '/app/sign-in')).html, /sign-up/)
  })
})

describe('a forgotten password', () => {
  it('is replaced by a link that comes by mail', async () => {
    await using mail = await startMailServer()
    using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    await signUp(app)
    await mail.next()
    const asked = await ask(app, '/app/forgot', { form: { email: EMAIL } })
    assert.equal(asked.location, '/app/sign-in?done=asked')
    const { text } = await mail.next()
    const link = /^http:\/\/127\.0\.0\.1:8787\/api\/auth(\/reset-password\S+)$/m.exec(text)?.[1]
    const led = new URL((await sendAuth(app, String(link))).headers.get('location') ?? '')
    assert.equal(led.pathname, '/app/reset')
    const { html } = await ask(app, `${led.pathname}${led.search}`)
    const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const form = { token, password: NEW_PASSWORD }
    assert.equal((await ask(app, '/app/reset', { form })).location, '/app/sign-in?done=reset')
    assert.equal((await ask(app, '/app/reset', { form })).status, 400)
    const entered = await ask(app, '/app/sign-in', {
      form: { email: EMAIL, password: NEW_PASSWORD },
    })
    assert.equal(entered.status, 303)
  })

  it('is answered alike for an address that nobody has', async () => {
    await using mail = await startMailServer()
    using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    const { location } = await ask(app, '/app/forgot', { form: { email: 'eve@example.com' } })
    assert.equal(location, '/app/sign-in?done=asked')
    assert.equal(mail.received(), 0)
  })

  it('says so where no mail is sent, or the link is too old', async () => {
    using app = await makeApp()
    assert.match((await ask(app, '/app/forgot')).html, /sends no mail/)
    assert.match((await ask(app, '/app/reset?error=INVALID_TOKEN')).html, /used or too old/)
  })
})

describe('the page of the account', () => {
  it('changes the name', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const form = { name: 'Ada <i>Lovelace</i>' }
    const { location } = await ask(app, '/app/account/name', { cookie, form })
    const { html } = await ask(app, location ?? '', { cookie })
    assert.match(html, /The name is changed/)
    assert.match(html, /value="Ada &lt;i&gt;Lovelace&lt;\/i&gt;"/)
  })

  it('changes the password, which signs out everybody else', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const other = await signIn(app)
    const form = { current: PASSWORD, password: NEW_PASSWORD }
    const changed = await ask(app, '/app/account/password', { cookie, form })
    assert.equal(changed.location, '/app/account?done=password')
    const headers = { authorization: `Bearer ${other}` }
    assert.equal((await app.send('GET', '/v1/account/me', { headers })).status, 401)
    const page = await ask(app, '/app/account', { cookie: cookieOf(changed) })
    assert.equal(page.status, 200)
  })

  it('says that the current password is wrong', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const form = { current: 'wrong horse', password: NEW_PASSWORD }
    const { status, html } = await ask(app, '/app/account/password', { cookie, form })
    assert.equal(status, 400)
    assert.match(html, /role="alert">Invalid password/)
  })

  it('signs out on all devices', async () => {
    using app = await makeApp()
    const cookie = await enter(app)
    const out = await ask(app, '/app/account/sign-out-everywhere', { cookie, form: {} })
    assert.equal(out.location, '/app/sign-in?done=everywhere')
    assert.equal((await ask(app, '/app', { cookie })).location, '/app/sign-in')
  })

  it('tells in the audit log where a session was begun, whatever a program calls itself', async () => {
    using app = await makeApp()
    await signUp(app)
    const form = { email: EMAIL, password: PASSWORD }
    await ask(app, '/app/sign-in', { form, headers: { 'user-agent': 'Browser' } })
    for (const agent of ['dashboard: Browser', 'dashboard: dashboard: Browser', 'Dashboard: x']) {
      await sendAuth(app, '/sign-in/email', form, { headers: { 'user-agent': agent } })
    }
    const logins = app.services.db.$client
      .prepare("SELECT app FROM audit_log WHERE action = 'login' ORDER BY id")
      .pluck()
      .all()
    assert.deepEqual(logins, ['api', 'dashboard', 'api', 'api', 'api'])
  })
})
