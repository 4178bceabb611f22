import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as v from 'valibot'
import { HOUR_MS, MINUTE_MS } from '../../lib/parts/durations.ts'
import { beginSignIn, callWith, signUpWithFactor } from '../accounts/second-factor/with-factor.ts'
import { codeAt } from '../support/authenticator.ts'
import { readRows, readValue, write } from '../support/database/sql.ts'
import { makeApp, recordingLog, type TestApp } from '../support/helpers.ts'
import { type MailAnswer, type MailServer, startMailServer } from '../support/mail-server.ts'
import { askForReset, nextLink, PASSWORD, sendAuth, signIn, signUp } from '../support/sign-in.ts'
import { stopLinkIn } from './one-click.ts'

const EMAIL = 'ada@example.com'
const newUser = { email: EMAIL, password: PASSWORD, name: 'Ada' }

const server = { answer: 'take' as MailAnswer, tried: 0 }
const log = recordingLog()
let mail: MailServer
let app: TestApp

/** Users sign up before the service has a mail server, and so need no link. */
let before: TestApp

beforeEach(async () => {
  Object.assign(server, { answer: 'take', tried: 0 })
  mail = await startMailServer({
    answer: () => {
      server.tried++
      return server.answer
    },
  })
  before = await makeApp({ log })
  app = before
})

afterEach(async () => {
  await app.close()
  await mail[Symbol.asyncDispose]()
})

async function useMail(): Promise<void> {
  app = await before.restart({
    MERIDIAN_SMTP_URL: mail.url,
    MERIDIAN_BASE_URL: 'https://geo.example',
  })
}

const as = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })
const waiting = () => readRows(app, 'SELECT kind, attempts FROM account_mails ORDER BY rowid')
const subjectOf = (headers: readonly string[]) =>
  headers.find((line) => line.startsWith('Subject: '))?.slice('Subject: '.length)

/** Nobody can stop a mail about the account. */
async function nextSubject() {
  const next = await mail.next()
  assert.equal(stopLinkIn(next), null)
  return subjectOf(next.headers)
}

/** Waits until the mails that are due have been tried. */
async function tried(times: number): Promise<void> {
  while (server.tried < times) await nextTurn()
  while ((await readValue(app, 'SELECT count(*) FROM account_mails WHERE claim IS NOT NULL')) !== 0)
    await nextTurn()
}

const ASKS = {
  'a verification': () => sendAuth(app, '/sign-up/email', newUser),
  'a reset': async () => {
    await app.makeKey({ email: EMAIL })
    return sendAuth(app, '/request-password-reset', { email: EMAIL })
  },
  'an account that exists': async () => {
    await app.makeKey({ email: EMAIL })
    return sendAuth(app, '/sign-up/email', newUser)
  },
}

describe('a mail to a user', () => {
  for (const [name, ask] of Object.entries(ASKS)) {
    it(`is tried again after a temporary refusal, as a mail server expects: ${name}`, async () => {
      // RFC 5321, section 4.2.1: after 4yz, the client should try again later.
      await useMail()
      server.answer = 'refuse'
      assert.equal((await ask()).status, 200)
      await tried(1)
      server.answer = 'take'
      app.pass(MINUTE_MS)
      await app.services.mails.retry()
      assert.deepEqual((await mail.next()).to, [EMAIL])
      assert.deepEqual(await waiting(), [])
    })
  }

  it('is sent by the next process, with the same Message-ID and as written by a program', async () => {
    await useMail()
    server.answer = 'refuse'
    await sendAuth(app, '/sign-up/email', newUser)
    await tried(1)
    const id = await readValue(app, 'SELECT id FROM account_mails')
    server.answer = 'take'
    app.pass(MINUTE_MS)
    app = await app.restart()
    const { headers } = await mail.next()
    assert.ok(headers.includes(`Message-ID: <${id}@localhost>`))
    // RFC 3834, section 5.
    assert.ok(headers.includes('Auto-Submitted: auto-generated'))
  })

  it('keeps its link encrypted while it waits, and nothing once it is sent or the link is used', async () => {
    await useMail()
    await app.makeKey({ email: EMAIL })
    server.answer = 'refuse'
    await sendAuth(app, '/request-password-reset', { email: EMAIL })
    await tried(1)
    const [row] = await readRows(app, 'SELECT * FROM account_mails')
    server.answer = 'take'
    app.pass(MINUTE_MS)
    await app.services.mails.retry()
    const token = (await nextLink(mail)).searchParams.get('token') ?? ''
    assert.ok(token.length > 10)
    assert.doesNotMatch(JSON.stringify(row), new RegExp(`${token}|token`))
    assert.deepEqual(await waiting(), [])
    server.answer = 'refuse'
    await sendAuth(app, '/request-password-reset', { email: EMAIL })
    await tried(3)
    assert.equal(
      (await sendAuth(app, '/reset-password', { token, newPassword: PASSWORD })).status,
      200,
    )
    const kinds = (await waiting()).map(([kind]) => kind)
    assert.deepEqual(kinds, ['password_reset'])
  })

  it('is not sent once its link has expired, and is removed', async () => {
    await useMail()
    server.answer = 'refuse'
    await sendAuth(app, '/sign-up/email', newUser)
    await tried(1)
    server.answer = 'take'
    app.pass(HOUR_MS)
    app = await app.restart()
    while ((await waiting()).length > 0) await nextTurn()
    assert.equal(mail.received(), 0)
  })

  it('does not wait for an earlier one to its address that the server refuses', async () => {
    await useMail()
    server.answer = 'refuse'
    await app.makeKey({ email: EMAIL })
    await sendAuth(app, '/sign-up/email', newUser)
    await tried(1)
    server.answer = 'take'
    await sendAuth(app, '/request-password-reset', { email: EMAIL })
    assert.equal(await nextSubject(), 'Reset your password')
    await tried(2)
    assert.deepEqual(await waiting(), [['account_exists', 1]])
  })

  it('is given up, and the log says so, if its link expires before the next attempt', async () => {
    await useMail()
    server.answer = 'refuse'
    await sendAuth(app, '/sign-up/email', newUser)
    await tried(1)
    app.pass(HOUR_MS - 1)
    await app.services.mails.retry()
    assert.deepEqual(await waiting(), [])
    assert.match(JSON.stringify(log.events), /gave up on a mail to a user/)
  })

  it('waits for none that cannot be read, such as one that another secret encrypted', async () => {
    await useMail()
    server.answer = 'refuse'
    await sendAuth(app, '/sign-up/email', { ...newUser, email: 'gone@example.com' })
    await tried(1)
    await write(app, "UPDATE account_mails SET link = 'AAAA', due_at = 0")
    server.answer = 'take'
    await sendAuth(app, '/sign-up/email', newUser)
    await app.services.mails.retry()
    assert.deepEqual((await mail.next()).to, [EMAIL])
    await tried(2)
    assert.deepEqual(await waiting(), [['verify_email', 2]])
  })

  it('does not wait for one to another address that the server refuses', async () => {
    await useMail()
    server.answer = 'refuse'
    await sendAuth(app, '/sign-up/email', { ...newUser, email: 'gone@example.com' })
    await tried(1)
    server.answer = 'take'
    await sendAuth(app, '/sign-up/email', newUser)
    assert.deepEqual((await mail.next()).to, [EMAIL])
    await tried(2)
    assert.deepEqual(await waiting(), [['verify_email', 1]])
  })

  it('is removed with the account', async () => {
    const token = await signUp(app)
    await useMail()
    server.answer = 'refuse'
    await sendAuth(app, '/request-password-reset', { email: EMAIL })
    await tried(1)
    const gone = await app.send('POST', '/v1/account/me/delete', {
      ...as(token),
      body: { email: EMAIL, password: PASSWORD },
    })
    assert.ok(gone.status < 300, gone.text)
    assert.deepEqual(await waiting(), [])
  })

  it('is not logged with its address or its link', async () => {
    await useMail()
    server.answer = 'refuse'
    await sendAuth(app, '/sign-up/email', newUser)
    await tried(1)
    assert.doesNotMatch(JSON.stringify(log.events), /ada@|verify=/)
  })
})

describe('a notice by mail', () => {
  const notified = async (expected: string) => {
    await app.services.mails.retry()
    const { to, headers, text } = await mail.next()
    assert.deepEqual([to, subjectOf(headers)], [[EMAIL], expected])
    assert.match(text, /If it was not you/)
  }

  it('follows each change of the password', async () => {
    const token = await signUp(app)
    await useMail()
    const changed = { currentPassword: PASSWORD, newPassword: `${PASSWORD} 2` }
    assert.equal((await sendAuth(app, '/change-password', changed, as(token))).status, 200)
    await notified('Your password was changed')
    const reset = await askForReset(app, mail)
    await sendAuth(app, '/reset-password', { token: reset, newPassword: PASSWORD })
    await notified('Your password was reset')
    const wrong = { currentPassword: 'wrong horse', newPassword: `${PASSWORD} 3` }
    const session = await signIn(app)
    assert.equal((await sendAuth(app, '/change-password', wrong, as(session))).status, 400)
    assert.deepEqual(await waiting(), [])
  })

  it('follows each change of the second factor and each recovery code', async () => {
    const { token, recoveryCodes } = await signUpWithFactor(before)
    await useMail()
    const call = callWith(app, token)
    const [first = '', second = '', third = ''] = recoveryCodes
    const challenge = await beginSignIn(app)
    const passed = await sendAuth(app, '/two-factor/verify', { challenge, code: first })
    assert.equal(passed.status, 200)
    await notified('A recovery code was used')
    const renewed = await call('/recovery-codes', { password: PASSWORD, code: second })
    assert.equal(renewed.status, 200, renewed.text)
    await notified('A recovery code was used')
    await notified('Your recovery codes were replaced')
    const wrong = await call('/remove', { password: PASSWORD, code: third })
    assert.equal(wrong.status, 400)
    assert.deepEqual(await waiting(), [])
  })

  it('follows when the second factor is turned on and off', async () => {
    const token = await signUp(before)
    await useMail()
    const call = callWith(app, token)
    const { secret } = v.parse(Offer, (await call('', { password: PASSWORD })).body)
    const code = () => codeAt(secret, app.services.now())
    assert.equal((await call('/confirm', { code: await code() })).status, 200)
    await notified('Two-factor sign-in was turned on')
    app.pass(MINUTE_MS)
    assert.equal((await call('/remove', { password: PASSWORD, code: await code() })).status, 200)
    await notified('Two-factor sign-in was turned off')
  })
})

const Offer = v.object({ secret: v.string() })
