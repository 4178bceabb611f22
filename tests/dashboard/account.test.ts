import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readColumn } from '../support/database/sql.ts'
import { makeApp } from '../support/helpers.ts'
import { startMailServer } from '../support/mail-server.ts'
import { cookieOf, type Page, visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'
import { nextLink, PASSWORD, sendAuth, signIn, signUp } from '../support/sign-in.ts'

const app = freshScene()
const ada = app.user('ada')
const bob = app.user('bob')

const EMAIL = 'ada@example.com'
const NEW_PASSWORD = `${PASSWORD} 2`

/** The field at which a page says what is wrong, and what it says. */
function problemIn(html: string): [field: string, text: string] {
  assert.doesNotMatch(html, /notice error/)
  const [, field = '', text = ''] = /id="(\w+)-problem" role="alert">([^<]*)</.exec(html) ?? []
  return [field, text]
}

function assertProblem({ status, html }: Page, field: string, text: string): void {
  assert.equal(status, 400)
  const [at, says] = problemIn(html)
  assert.deepEqual([at, says.startsWith(text)], [field, true], says)
}

describe('POST /app/sign-up', () => {
  it('creates an account and signs the user in', async () => {
    const form = { name: 'Ada', email: EMAIL, password: PASSWORD }
    const page = await visitPage(app, '/app/sign-up', { form })
    assert.equal(page.location, '/app')
    const { html } = await visitPage(app, '/app/account', { cookie: cookieOf(page) })
    assert.match(html, /ada@example\.com/)
  })

  it('shows what is wrong, and keeps the input except the password', async () => {
    const form = { name: 'Ada "<b>"', email: EMAIL, password: 'short' }
    const { status, html } = await visitPage(app, '/app/sign-up', { form })
    assert.equal(status, 400)
    assert.match(html, /role="alert">Must have at least 8 characters/)
    assert.match(html, /value="Ada &quot;&lt;b&gt;&quot;"/)
    assert.doesNotMatch(html, /value="short"/)
  })

  it('says at the field what is wrong, one after the other', async () => {
    const right = { name: 'Ada', email: 'ada@example.com', password: PASSWORD }
    const wrong = [
      [{ name: '', email: '', password: '' }, 'name', 'Must not be blank'],
      [{ ...right, name: ' \u00a0 ' }, 'name', 'Must not be blank'],
      [{ ...right, name: 'x'.repeat(101) }, 'name', 'Must have at most 100 characters'],
      [{ ...right, name: 'A\u202eda' }, 'name', 'Must not be blank, and must have no control'],
      [{ ...right, email: 'ada@', password: '' }, 'email', 'Must be an e-mail address'],
      [{ ...right, password: 'short' }, 'password', 'Must have at least 8 characters'],
      [{ ...right, password: 'x'.repeat(129) }, 'password', 'Must have at most 128 characters'],
      [{ ...right, password: 'password1234' }, 'password', 'This password is too easy to guess'],
    ] as const
    for (const [form, field, text] of wrong)
      assertProblem(await visitPage(app, '/app/sign-up', { form }), field, text)
  })

  it('says how to go on if the address already has an account', async () => {
    await app.makeKey({ email: EMAIL })
    const form = { name: 'Ada', email: EMAIL, password: PASSWORD }
    const { status, html } = await visitPage(app, '/app/sign-up', { form })
    assert.equal(status, 422)
    assert.match(html, /id="email-problem" role="alert">This address already has an account/)
    assert.match(html, /href="[^"]*\/app\/forgot"/)
    const forgot = await visitPage(app, '/app/forgot')
    assert.match(forgot.html, /<pre[^>]*>npm run user -- --email ADDRESS --link<\/pre>/)
    assert.doesNotMatch(forgot.html, /data-copy/, 'no script of this page would show the button')
  })

  it('answers 404 when sign-up is closed', async () => {
    await using app = await makeApp({ env: { MERIDIAN_SIGN_UP: 'closed' } })
    assert.equal((await visitPage(app, '/app/sign-up')).status, 404)
    assert.doesNotMatch((await visitPage(app, '/app/sign-in')).html, /sign-up/)
  })
})

describe('POST /app/forgot', () => {
  it('sends an e-mail with a link that sets a new password once', async () => {
    await using mail = await startMailServer()
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    await app.makeKey({ email: EMAIL })
    const requested = await visitPage(app, '/app/forgot', { form: { email: EMAIL } })
    assert.equal(requested.location, '/app/sign-in?done=asked')
    const { pathname, search } = await nextLink(mail)
    assert.equal(pathname, '/app/reset')
    const { html } = await visitPage(app, `${pathname}${search}`)
    const token = /name="token" value="([^"]+)"/.exec(html)?.[1] ?? ''
    const form = { token, password: NEW_PASSWORD }
    assert.equal((await visitPage(app, '/app/reset', { form })).location, '/app/sign-in?done=reset')
    const again = await visitPage(app, '/app/reset', { form })
    assert.equal(again.status, 400)
    assert.match(again.html, /has expired or has already been used/)
    const credentials = { email: EMAIL, password: NEW_PASSWORD }
    const signedIn = await visitPage(app, '/app/sign-in', { form: credentials })
    assert.equal(signedIn.status, 303)
  })

  it('says at the field what is wrong with an address or a password', async () => {
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:9' } })
    const forgot = await visitPage(app, '/app/forgot', { form: { email: 'ada@' } })
    assert.deepEqual(problemIn(forgot.html), ['email', 'Must be an e-mail address'])
    assert.match(forgot.html, /value="ada@"/)
    const form = { token: 'a token', password: 'short' }
    const reset = await visitPage(app, '/app/reset', { form })
    assert.deepEqual(problemIn(reset.html), ['password', 'Must have at least 8 characters'])
  })

  it('gives the same answer for an unknown address', async () => {
    await using mail = await startMailServer()
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    const { location } = await visitPage(app, '/app/forgot', { form: { email: 'eve@example.com' } })
    assert.equal(location, '/app/sign-in?done=asked')
    assert.equal(mail.received(), 0)
  })

  it('explains that no e-mail is sent, or that the link has expired', async () => {
    const { html } = await visitPage(app, '/app/forgot')
    assert.match(html, /does not send e-mail.*href="\/app\/sign-in"/s)
    assert.match((await visitPage(app, '/app/reset')).html, /has expired or has already been used/)
  })
})

describe('POST /app/verify', () => {
  const newUser = { name: 'Ada', email: EMAIL, password: PASSWORD }

  it('mails a new link to who has lost the first, and hides who has an account', async () => {
    await using mail = await startMailServer()
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    await visitPage(app, '/app/sign-up', { form: newUser })
    const lost = await nextLink(mail)
    const { html } = await visitPage(app, '/app/sign-in')
    assert.match(html, /href="[^"]*\/app\/verify"/)
    const ask = async (email: string) =>
      (await visitPage(app, '/app/verify', { form: { email } })).location
    assert.equal(await ask('eve@example.com'), '/app/sign-in?done=verification-asked')
    assert.equal(await ask(EMAIL), '/app/sign-in?done=verification-asked')
    const link = await nextLink(mail)
    assert.notEqual(link.search, '')
    assert.equal(link.pathname, lost.pathname)
    const verify = link.searchParams.get('verify') ?? ''
    const signedIn = await visitPage(app, '/app/sign-in', { form: { ...newUser, verify } })
    assert.equal(signedIn.status, 303)
    assert.equal(await ask(EMAIL), '/app/sign-in?done=verification-asked')
    assert.equal(mail.received(), 2)
  })

  it('is limited like other mails, and says at the field what is wrong', async () => {
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:9' } })
    const ask = (email: string) => visitPage(app, '/app/verify', { form: { email } })
    assert.deepEqual(problemIn((await ask('ada@')).html), ['email', 'Must be an e-mail address'])
    for (let n = 0; n < 5; n++) assert.equal((await ask(EMAIL)).status, 303)
    const refused = await ask(EMAIL)
    assert.equal(refused.status, 429)
    assert.match(refused.html, /Too many attempts/)
  })

  it('is not there without mail', async () => {
    assert.equal((await visitPage(app, '/app/verify')).status, 404)
    assert.doesNotMatch((await visitPage(app, '/app/sign-in')).html, /app\/verify/)
  })
})

describe('the account page', () => {
  it('links to the settings of mails about usage, where mail is sent', async () => {
    const before = await makeApp()
    await before.user('ada').enter()
    const without = (await before.user('ada').visit('/app/account')).html
    assert.doesNotMatch(without, /about usage|>Verified/)
    await using mailing = await before.restart({ MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:9' })
    const { html } = await mailing.user('ada').visit('/app/account')
    assert.match(html, /<dt>Mails about usage<\/dt><dd><a href="[^"]*\/app\/usage\/mails">/)
  })

  it('has its forms in sections, and what cannot be undone alone in the last one', async () => {
    const { html } = await ada.visit('/app/account')
    const sections = html.split('<section class="group').slice(1)
    const formsOf = (text: string) =>
      [...text.matchAll(/action="\/app\/account\/([^"]+)"/g)].map(([, path]) => path)
    assert.deepEqual(
      sections.map((text) => [/<h2[^>]*>([^<]+)/.exec(text)?.[1], formsOf(text)]),
      [
        ['Profile', ['name', 'email']],
        ['Security', ['password', 'sessions/end-others', 'sign-out-everywhere']],
        ['Data', []],
        ['Danger zone', ['delete']],
      ],
    )
    assert.match(sections.at(-1) ?? '', /^ danger"/)
  })

  it('names the user for password managers in the form for a new password', async () => {
    const { html } = await ada.visit('/app/account')
    const form = /<form[^>]*\/app\/account\/password".*?<\/form>/s.exec(html)?.[0] ?? ''
    // HTML, 4.10.18.7: autocomplete="username" is the name that goes with the password.
    assert.match(form, /<input[^>]*value="ada@[^"]*"[^>]*autocomplete="username"/)
  })

  it('changes the name', async () => {
    const form = { name: 'Ada <i>Lovelace</i>' }
    const { location } = await ada.submit('/app/account/name', form)
    const { html } = await ada.visit(location ?? '')
    assert.match(html, /Name changed/)
    assert.match(html, /value="Ada &lt;i&gt;Lovelace&lt;\/i&gt;"/)
  })

  it('says at the field what is wrong with a name, a password or an address', async () => {
    await bob.enter()
    const current = { current: PASSWORD }
    const taken = { newEmail: 'bob@example.com', emailPassword: PASSWORD }
    const wrong = [
      ['name', { name: '  ' }, 'name', 'Must not be blank'],
      ['name', { name: 'x'.repeat(101) }, 'name', 'Must have at most 100 characters'],
      ['password', { current: '', password: '' }, 'current', 'This is missing'],
      ['password', { ...current, password: 'short' }, 'password', 'Must have at least 8'],
      ['email', taken, 'newEmail', 'Another account has this address'],
    ] as const
    for (const [path, form, field, text] of wrong)
      assertProblem(await ada.submit(`/app/account/${path}`, form), field, text)
    assert.equal((await readColumn(app, 'SELECT name FROM users ORDER BY email'))[0], 'Ada')
  })

  it('changes the password and ends all other sessions', async () => {
    await ada.enter()
    const other = await signIn(app)
    const form = { current: PASSWORD, password: NEW_PASSWORD }
    const changed = await ada.submit('/app/account/password', form)
    assert.equal(changed.location, '/app/account?done=password')
    const headers = { authorization: `Bearer ${other}` }
    assert.equal((await app.send('GET', '/v1/account/me', { headers })).status, 401)
    const page = await visitPage(app, '/app/account', { cookie: cookieOf(changed) })
    assert.equal(page.status, 200)
  })

  it('shows that the current password is wrong', async () => {
    const form = { current: 'wrong horse', password: NEW_PASSWORD }
    const { status, html } = await ada.submit('/app/account/password', form)
    assert.equal(status, 400)
    assert.match(html, /role="alert">Invalid password/)
  })

  it('signs out on all devices', async () => {
    const out = await ada.submit('/app/account/sign-out-everywhere')
    assert.equal(out.location, '/app/sign-in?done=everywhere')
    assert.equal((await ada.visit('/app')).location, '/app/sign-in')
  })

  it('deletes the account, after the address and the password', async () => {
    const wrong = { deleteEmail: EMAIL, deletePassword: 'wrong horse' }
    const refused = await ada.submit('/app/account/delete', wrong)
    assert.equal(refused.status, 400)
    assert.match(refused.html, /id="deletePassword-problem" role="alert">This is not the password/)
    assert.match(refused.html, /<details class="confirm" open="">/)
    const form = { deleteEmail: EMAIL, deletePassword: PASSWORD }
    const headers = { 'sec-fetch-site': 'cross-site' }
    const foreign = await ada.submit('/app/account/delete', form, { headers })
    assert.equal(foreign.status, 403)
    const done = await ada.submit('/app/account/delete', form)
    assert.equal(done.location, '/app/sign-in?done=deleted')
    assert.match((await visitPage(app, done.location ?? '')).html, /Your account is deleted/)
    assert.equal((await ada.visit('/app')).location, '/app/sign-in')
  })

  it('records in the audit log where a session started, whatever the user agent claims', async () => {
    await signUp(app)
    const form = { email: EMAIL, password: PASSWORD }
    await visitPage(app, '/app/sign-in', { form, headers: { 'user-agent': 'Browser' } })
    const claims = [' x', ' dashboard: x', '  dashboard: x', ' \tdashboard: x']
    for (const agent of ['Dashboard: x', ...claims.map((claim) => `dashboard:${claim}`)])
      await sendAuth(app, '/sign-in/email', form, { headers: { 'user-agent': agent } })
    const logins = "SELECT app FROM audit_log WHERE action = 'login' ORDER BY id"
    const apps = ['api', 'dashboard', 'api', 'api', 'api', 'api', 'api']
    assert.deepEqual(await readColumn(app, logins), apps)
  })
})
