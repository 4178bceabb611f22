import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { readValue } from '../../support/database/sql.ts'
import { codeOf, makeApp, recordingLog, type TestApp } from '../../support/helpers.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { freshMailScene } from '../../support/scene/mail.ts'
import { cookieOf, visitPage } from '../../support/scene/pages.ts'
import {
  askForReset,
  lookUpWith,
  nextLink,
  PASSWORD,
  sendAuth,
  signIn,
  signUp,
  signUpByMail,
} from '../../support/sign-in.ts'

const EMAIL = 'ada@example.com'
const newUser = { email: EMAIL, password: PASSWORD, name: 'Ada' }

/** What only a user with a verified address may do, with the status if allowed. */
const GUARDED = [
  ['/v1/account/me/keys', { name: 'mine' }, 201],
  ['/v1/account/me/sites', { name: 'https://shop.example' }, 201],
  ['/v1/billing/subscription', { planId: 'pro' }, 503],
  ['/v1/billing/contact', { name: 'Ada', message: 'Hello' }, 503],
] as const

const { app, mail } = freshMailScene({ MERIDIAN_MAIL_FROM: 'Meridian <geo@shop.example>' })

/** Status of a sign-in with a token that was mailed, if any. */
async function statusOf(of: TestApp, more: object = {}): Promise<number> {
  const body = { email: EMAIL, password: PASSWORD, ...more }
  return (await sendAuth(of, '/sign-in/email', body)).status
}

const isVerified = async () =>
  (await readValue(app, 'SELECT email_verified FROM users WHERE email = ?', EMAIL)) === 1

async function assertAllowed(by: TestApp, headers: Record<string, string>): Promise<void> {
  for (const [path, body, status] of GUARDED) {
    assert.equal((await by.send('POST', path, { headers, body })).status, status, path)
  }
}

describe('with a mail server, a new user', () => {
  it('is answered like a wrong password until the address is verified', async () => {
    await sendAuth(app, '/sign-up/email', newUser)
    const attempt = (password: string) =>
      sendAuth(app, '/sign-in/email', { email: EMAIL, password })
    const [right, wrong] = [await attempt(PASSWORD), await attempt('wrong horse')]
    assert.equal(right.status, 401)
    assert.equal(JSON.stringify(right.body), JSON.stringify(wrong.body))
    assert.deepEqual([...right.headers.keys()], [...wrong.headers.keys()])
    const logins = "SELECT count(*) FROM audit_log WHERE action = 'login'"
    assert.equal(await readValue(app, logins), 0)
  })

  it('verifies it by the mailed link and the password, not by one of them alone', async () => {
    await sendAuth(app, '/sign-up/email', newUser)
    const link = await nextLink(mail)
    const verificationToken = link.searchParams.get('verify') ?? ''
    await sendAuth(app, '/sign-up/email', { ...newUser, email: 'eve@example.com' })
    const eves = (await nextLink(mail)).searchParams.get('verify')
    for (let n = 0; n < 2; n++) await visitPage(app, `${link.pathname}${link.search}`)
    assert.equal(await statusOf(app, { verificationToken, password: 'wrong horse' }), 401)
    assert.equal(await statusOf(app, { verificationToken: `${verificationToken}x` }), 401)
    assert.equal(await statusOf(app, { verificationToken: eves }), 401)
    assert.equal(await isVerified(), false)
    const headers = { authorization: `Bearer ${await signIn(app, EMAIL, { verificationToken })}` }
    assert.equal(await isVerified(), true)
    assert.equal(await statusOf(app), 200)
    await assertAllowed(app, headers)
  })

  it('can also verify it by a reset', async () => {
    await sendAuth(app, '/sign-up/email', { ...newUser, password: `${PASSWORD} 2` })
    await mail.next()
    const token = await askForReset(app, mail)
    await sendAuth(app, '/reset-password', { token, newPassword: PASSWORD })
    assert.equal(await statusOf(app), 200)
  })
})

describe('with a mail server, an unverified user from before it was set up', () => {
  it('signs in, but cannot create keys or sites, open a checkout or send an inquiry', async () => {
    await using mail = await startMailServer()
    const before = await makeApp()
    await signUp(before)
    await using app = await before.restart({ MERIDIAN_SMTP_URL: mail.url })
    const headers = { authorization: `Bearer ${await signIn(app)}` }
    for (const [path, body] of GUARDED) {
      const refused = await app.send('POST', path, { headers, body })
      assert.equal(refused.status, 403, path)
      assert.equal(codeOf(refused), 'EMAIL_NOT_VERIFIED')
    }
    assert.equal((await app.send('GET', '/v1/account/me', { headers })).status, 200)
    await sendAuth(app, '/send-verification-email', { email: EMAIL }, { headers })
    const verificationToken = (await nextLink(mail)).searchParams.get('verify')
    assert.equal(await statusOf(app, { verificationToken }), 200)
    await assertAllowed(app, headers)
  })

  it('can use keys that the operator made on the command line', async () => {
    const key = await app.makeKey({ email: EMAIL })
    const body = { name: 'https://shop.example' }
    assert.equal((await app.send('GET', '/v1/ip/81.2.69.160', { key })).status, 200)
    assert.equal((await app.send('POST', '/v1/account/me/sites', { key, body })).status, 201)
  })
})

describe('without a mail server, a user', () => {
  it('need not verify the address', async () => {
    await using app = await makeApp()
    const headers = { authorization: `Bearer ${await signUp(app)}` }
    await assertAllowed(app, headers)
  })
})

describe('sign-up with a mail server', () => {
  /** The answer without what differs each time. */
  async function answerTo(body: unknown) {
    const { status, headers, body: given } = await sendAuth(app, '/sign-up/email', body)
    const text = JSON.stringify(given)
      .replaceAll(/"\w{8}-[\w-]{27}"/g, '"ID"')
      .replaceAll(/"\d{4}-[\d:.TZ-]+"/g, '"TIME"')
    return { status, text, names: [...headers.keys()] }
  }

  it('refuses malformed Unicode, which would show whether the address has an account', async () => {
    for (const field of ['name', 'image']) {
      const answer = await sendAuth(app, '/sign-up/email', { ...newUser, [field]: 'a\ud800' })
      assert.equal(answer.status, 400, field)
      assert.equal(codeOf(answer), 'BAD_REQUEST')
    }
  })

  it('answers alike for a new and a known address, and writes to the owner', async () => {
    const first = await answerTo(newUser)
    assert.equal(first.status, 200)
    assert.match((await mail.next()).text, /^To verify your e-mail address/m)
    assert.deepEqual(await answerTo({ ...newUser, password: `${PASSWORD} 3` }), first)
    const { to, text } = await mail.next()
    assert.deepEqual(to, [EMAIL])
    assert.match(text, /tried to use your e-mail address/)
  })

  it('answers alike even if two come at once', async () => {
    const [one, two] = await Promise.all([answerTo(newUser), answerTo(newUser)])
    assert.equal(one.status, 200)
    assert.deepEqual(one, two)
  })

  it('leads from the form through the link in the mail to the sign-in', async () => {
    const page = await visitPage(app, '/app/sign-up', { form: newUser })
    assert.equal(page.location, '/app/sign-in?done=signed-up')
    assert.equal(cookieOf(page), '')
    assert.match((await visitPage(app, page.location ?? '')).html, /sent an e-mail/)
    const { pathname, search, searchParams } = await nextLink(mail)
    const { html } = await visitPage(app, `${pathname}${search}`)
    assert.match(html, /Sign in to verify your e-mail address/)
    const verify = searchParams.get('verify') ?? ''
    assert.ok(html.includes(`name="verify" value="${verify}"`))
    const form = { email: EMAIL, password: PASSWORD, verify }
    const wrong = { ...form, password: 'wrong horse' }
    const refused = await visitPage(app, '/app/sign-in', { form: wrong })
    assert.match(refused.html, /or the address is not verified yet/)
    assert.ok(refused.html.includes(`name="verify" value="${verify}"`))
    assert.equal((await visitPage(app, '/app/sign-in', { form })).location, '/app')
    assert.equal(await isVerified(), true)
  })
})

describe('the service without a mail server', () => {
  it('does not reset passwords by mail, and logs that at the start', async () => {
    const log = recordingLog()
    await using mailless = await makeApp({ log })
    await signUp(mailless)
    const { status } = await sendAuth(mailless, '/request-password-reset', { email: EMAIL })
    assert.equal(status, 400)
    const warnings = log.events.filter(({ level }) => level === 'warn')
    assert.match(warnings[0]?.message ?? '', /^MERIDIAN_SMTP_URL is not set/)
  })
})

describe('the service with a mail server', () => {
  it('sends a link to a form of ours at sign-up', async () => {
    await sendAuth(app, '/sign-up/email', newUser)
    const { to, from, text } = await mail.next()
    assert.deepEqual([to, from], [[EMAIL], 'geo@shop.example'])
    assert.match(text, /^http:\/\/127\.0\.0\.1:8787\/app\/sign-in\?verify=[\w.-]+$/m)
  })

  it('sends a token that sets a password once and ends all sessions', async () => {
    const session = await signUpByMail(app, mail)
    const token = await askForReset(app, mail)
    const newPassword = `${PASSWORD}2`
    const set = () => sendAuth(app, '/reset-password', { token, newPassword })
    assert.equal((await set()).status, 200)
    assert.equal((await set()).status, 400)
    assert.equal(await lookUpWith(app, session), 401)
    assert.equal(await statusOf(app, { password: newPassword }), 200)
  })

  it('lets a user created on the command line set a password', async () => {
    await app.makeKey({ email: EMAIL })
    const token = await askForReset(app, mail)
    await sendAuth(app, '/reset-password', { token, newPassword: PASSWORD })
    assert.ok(await signIn(app))
  })

  it('answers identically for an unknown address, and sends nothing', async () => {
    await app.makeKey({ email: EMAIL })
    const known = await sendAuth(app, '/request-password-reset', { email: EMAIL })
    await mail.next()
    const unknown = await sendAuth(app, '/request-password-reset', { email: 'e@e.example' })
    assert.deepEqual(unknown.body, known.body)
    assert.equal(mail.received(), 1)
  })

  it('signs users up while the mail server is down, and logs that', async () => {
    const log = recordingLog()
    await using mailing = await makeApp({ log, env: { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:1' } })
    await sendAuth(mailing, '/sign-up/email', newUser)
    while (log.events.length === 0) await nextTurn()
    assert.match(log.events[0]?.message ?? '', /^cannot deliver a mail to a user/)
  })
})
