import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readRows, write } from '../support/database/sql.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../support/helpers.ts'
import { type MailServer, startMailServer } from '../support/mail-server.ts'
import { signInNewUser, visitPage } from '../support/scene/pages.ts'
import {
  askForReset,
  nextLink,
  PASSWORD,
  sendAuth,
  signIn,
  signUp,
  signUpByMail,
} from '../support/sign-in.ts'

const PATH = '/v1/account/me/email'
const NEW = 'ada@new.example'

const bearer = (token: string, body?: unknown) => ({
  headers: { authorization: `Bearer ${token}` },
  ...(body !== undefined && { body }),
})

const change = (app: TestApp, token: string, email = NEW, password = PASSWORD) =>
  app.send('POST', PATH, bearer(token, { email, password }))

const confirm = (app: TestApp, token: string, body: unknown) =>
  app.send('POST', `${PATH}/confirm`, bearer(token, body))

async function profileOf(app: TestApp, token: string) {
  const { body, status } = await app.send('GET', '/v1/account/me', bearer(token))
  if (status !== 200) return status
  const { email, emailVerified } = body as { email: string; emailVerified: boolean } // safe: checked
  return [email, emailVerified]
}

async function withMail(mail: MailServer, now = () => NOON) {
  const app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url }, now })
  return app
}

/** What the link in the next mail contains. */
async function linked(mail: MailServer) {
  const link = await nextLink(mail)
  assert.equal(link.pathname, '/app/account/email')
  return Object.fromEntries(link.searchParams)
}

describe('POST /v1/account/me/email', () => {
  it('without mail changes the address at once, and ends all other sessions', async () => {
    await using app = await makeApp()
    const token = await signUp(app)
    const other = await signIn(app)
    const { status, body } = await change(app, token, 'ADA@new.example')
    assert.deepEqual([status, body], [200, { status: 'changed' }])
    assert.deepEqual(await profileOf(app, token), [NEW, false])
    assert.equal(await profileOf(app, other), 401)
    await signIn(app, NEW)
    const old = { email: 'ada@example.com', password: PASSWORD }
    assert.equal((await sendAuth(app, '/sign-in/email', old)).status, 401)
  })

  it('is audited, without the new address', async () => {
    await using app = await makeApp()
    const token = await signUp(app)
    await change(app, token)
    const { text } = await app.send(
      'GET',
      '/v1/account/me/audit?action=change_email',
      bearer(token),
    )
    assert.match(text, /"actor_label":"ada@example.com"/)
    assert.doesNotMatch(text, /new\.example/)
  })

  it('sends the notices of limits that still wait to the new address', async () => {
    await using app = await makeApp()
    const token = await signUp(app)
    await signUp(app, 'eve@example.com')
    await write(
      app,
      `INSERT INTO cap_notices (id, channel, user_id, email, threshold, requests, state,
        created_at, queued_at, due_at, attempts)
      SELECT email || ' ' || state, 'mail', id, email, 'near_cap', 80, state, 1, 1, 1, 0
      FROM users, (SELECT 'waiting' AS state UNION SELECT 'delivered') AS states`,
    )
    await change(app, token)
    assert.deepEqual(await readRows(app, 'SELECT id, email FROM cap_notices ORDER BY id'), [
      ['ada@example.com delivered', 'ada@example.com'],
      ['ada@example.com waiting', NEW],
      ['eve@example.com delivered', 'eve@example.com'],
      ['eve@example.com waiting', 'eve@example.com'],
    ])
  })

  it('refuses a wrong password and the address of another account', async () => {
    await using app = await makeApp()
    const token = await signUp(app)
    await signUp(app, 'eve@example.com')
    assert.equal((await change(app, token, NEW, 'wrong horse')).status, 400)
    const taken = await change(app, token, 'eve@example.com')
    assert.deepEqual([taken.status, codeOf(taken)], [400, 'BAD_REQUEST'])
    assert.deepEqual(await profileOf(app, token), ['ada@example.com', false])
  })

  it('limits tries', async () => {
    await using app = await makeApp()
    const token = await signUp(app)
    for (let tries = 0; tries < 10; tries++) await change(app, token, NEW, 'wrong horse')
    assert.equal((await change(app, token)).status, 429)
  })

  it('with mail asks the new address first, and notifies the old one', async () => {
    await using mail = await startMailServer()
    await using app = await withMail(mail)
    const token = await signUpByMail(app, mail)
    const other = await signIn(app)
    const asked = await change(app, token)
    assert.deepEqual(asked.body, { status: 'mailed' })
    assert.deepEqual(await profileOf(app, token), ['ada@example.com', true])
    const link = await linked(mail)
    assert.equal(link['email'], NEW)
    const confirmed = await confirm(app, token, link)
    assert.deepEqual(confirmed.body, { status: 'changed' }, confirmed.text)
    assert.deepEqual(await profileOf(app, token), [NEW, true])
    assert.equal(await profileOf(app, other), 401)
    const notice = await mail.next()
    assert.deepEqual(notice.to, ['ada@example.com'])
    assert.match(notice.text, /has another e-mail address now/)
    assert.equal((await confirm(app, token, link)).status, 400, 'a link is good once')
  })

  it('does not show who else has an account: nobody gets a mail', async () => {
    await using mail = await startMailServer()
    await using app = await withMail(mail)
    const token = await signUpByMail(app, mail)
    await signUpByMail(app, mail, 'eve@example.com')
    const received = mail.received()
    const answer = await change(app, token, 'eve@example.com')
    assert.deepEqual([answer.status, answer.body], [200, { status: 'mailed' }])
    await change(app, token)
    await linked(mail)
    assert.equal(mail.received(), received + 1)
  })

  it('takes the link only from its user, for its address, within an hour, with the same password', async () => {
    let now = NOON
    await using mail = await startMailServer()
    await using app = await withMail(mail, () => now)
    const token = await signUpByMail(app, mail)
    const stranger = await signUpByMail(app, mail, 'eve@example.com')
    await change(app, token)
    const link = await linked(mail)
    assert.equal((await confirm(app, stranger, link)).status, 400)
    assert.equal((await confirm(app, token, { ...link, email: 'eve@other.example' })).status, 400)
    now += 3_600_000
    await write(app, `UPDATE sessions SET expires_at = ${now * 2}`)
    assert.equal((await confirm(app, token, link)).status, 400)
    await change(app, token)
    const second = await linked(mail)
    const reset = await askForReset(app, mail)
    const body = { token: reset, newPassword: `${PASSWORD} 2` }
    assert.equal((await sendAuth(app, '/reset-password', body)).status, 200)
    const again = await sendAuth(app, '/sign-in/email', {
      email: 'ada@example.com',
      password: `${PASSWORD} 2`,
    })
    const { token: fresh } = again.body as { token: string } // safe: better-auth's answer
    assert.equal((await confirm(app, fresh, second)).status, 400)
  })

  it('is refused where a remote service keeps addresses', async () => {
    await using app = await makeApp({ env: { MERIDIAN_AUTH_URL: 'http://127.0.0.1:9' } })
    const key = await app.makeKey()
    const answer = await app.send('POST', PATH, { key, body: { email: NEW } })
    assert.equal(codeOf(answer), 'FORBIDDEN')
  })
})

describe('the address on the account page', () => {
  it('changes at once, and the browser stays signed in', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const form = { newEmail: NEW, emailPassword: PASSWORD }
    const page = await visitPage(app, '/app/account/email', { cookie, form })
    assert.equal(page.location, '/app/account?done=email')
    assert.match((await visitPage(app, '/app/account', { cookie })).html, /ada@new\.example/)
  })

  it('changes with a button on the page of the link, which itself changes nothing', async () => {
    await using mail = await startMailServer()
    await using app = await withMail(mail)
    await signUpByMail(app, mail)
    const signedIn = await visitPage(app, '/app/sign-in', {
      form: { email: 'ada@example.com', password: PASSWORD },
    })
    const cookie = (signedIn.headers.get('set-cookie') ?? '').split(';')[0] ?? ''
    const form = { newEmail: NEW, emailPassword: PASSWORD }
    const asked = await visitPage(app, '/app/account/email', { cookie, form })
    assert.equal(asked.location, '/app/account?done=mailed')
    const { pathname, search, searchParams } = await nextLink(mail)
    const shown = await visitPage(app, `${pathname}${search}`, { cookie })
    assert.match(shown.html, /<strong>ada@new\.example<\/strong>/)
    assert.match((await visitPage(app, '/app/account', { cookie })).html, /ada@example\.com/)
    const fields = Object.fromEntries(searchParams)
    const done = await visitPage(app, '/app/account/email/confirm', { cookie, form: fields })
    assert.equal(done.location, '/app/account?done=email')
  })
})
