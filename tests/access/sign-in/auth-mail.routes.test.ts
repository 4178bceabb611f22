import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeApp, recordingLog, type TestApp } from '../helpers.ts'
import { type MailServer, startMailServer } from '../mail-server.ts'
import { PASSWORD, sendAuth, signIn, signUp } from '../sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const EMAIL = 'ada@example.com'

describe('without a mail server', () => {
  it('no password can be reset by mail, and the log says so at the start', async () => {
    const log = recordingLog()
    using mailless = await makeApp({ log })
    await signUp(mailless)
    const { status } = await sendAuth(mailless, '/request-password-reset', { email: EMAIL })
    assert.equal(status, 400)
    const warnings = log.events.filter(({ level }) => level === 'warn')
    assert.match(warnings[0]?.message ?? '', /^MERIDIAN_SMTP_URL is not set/)
  })
})

describe('with a mail server', () => {
  /** The service with a real mail server, which keeps what it is sent or refuses it. */
  async function withMail(run: (app: TestApp, mail: MailServer) => Promise<void>) {
    await using mail = await startMailServer()
    using mailing = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url, ...FROM } })
    await run(mailing, mail)
  }
  const FROM = { MERIDIAN_MAIL_FROM: 'Meridian <geo@shop.example>' }

  it('sends a link at sign-up, by which the address is verified', async () => {
    await withMail(async (mailing, mail) => {
      await signUp(mailing)
      const { to, from, text } = await mail.next()
      assert.deepEqual([to, from], [[EMAIL], 'geo@shop.example'])
      const link = /^http:\/\/127\.0\.0\.1:8787\/api\/auth(\/verify-email\S+)$/m.exec(text)?.[1]
      assert.equal((await sendAuth(mailing, `${link}x`)).status, 401)
      assert.equal((await sendAuth(mailing, String(link))).status, 200)
      const { db } = mailing.services
      const verified = db.$client.prepare('SELECT email_verified FROM users').pluck().get()
      assert.equal(verified, 1)
    })
  })

  it('sends a token by which a password is set once, which ends all sessions', async () => {
    await withMail(async (mailing, mail) => {
      const token = await signUp(mailing)
      await mail.next()
      await sendAuth(mailing, '/request-password-reset', { email: EMAIL })
      const { text } = await mail.next()
      const reset = /^\w{24}$/m.exec(text)?.[0]
      const newPassword = `${PASSWORD}2`
      const set = () => sendAuth(mailing, '/reset-password', { token: reset, newPassword })
      assert.equal((await set()).status, 200)
      assert.equal((await set()).status, 400)
      const headers = { authorization: `Bearer ${token}` }
      assert.equal((await mailing.send('GET', LOCATE, { headers })).status, 401)
      const login = { email: EMAIL, password: newPassword }
      assert.equal((await sendAuth(mailing, '/sign-in/email', login)).status, 200)
    })
  })

  it('lets a user who was made on the command line set a password', async () => {
    await withMail(async (mailing, mail) => {
      await mailing.makeKey({ email: EMAIL })
      await sendAuth(mailing, '/request-password-reset', { email: EMAIL })
      const token = /^\w{24}$/m.exec((await mail.next()).text)?.[0]
      await sendAuth(mailing, '/reset-password', { token, newPassword: PASSWORD })
      assert.ok(await signIn(mailing))
    })
  })

  it('answers the same to an unknown address, and sends nothing', async () => {
    await withMail(async (mailing, mail) => {
      await signUp(mailing)
      await mail.next()
      const known = await sendAuth(mailing, '/request-password-reset', { email: EMAIL })
      await mail.next()
      const unknown = await sendAuth(mailing, '/request-password-reset', { email: 'e@e.example' })
      assert.deepEqual(unknown.body, known.body)
      assert.equal(mail.received(), 2)
    })
  })

  it('signs up all the same where the mail server is down, and logs it', async () => {
    const log = recordingLog()
    const mail = await startMailServer()
    await mail[Symbol.asyncDispose]()
    using mailing = await makeApp({ log, env: { MERIDIAN_SMTP_URL: mail.url } })
    await signUp(mailing)
    for (let turn = 0; turn < 1_000 && log.events.length === 0; turn++) await nextTurn()
    assert.equal(log.events[0]?.message, 'cannot send mail')
  })
})
