import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { makeApp, recordingLog, type TestApp } from '../../support/helpers.ts'
import { type MailServer, startMailServer } from '../../support/mail-server.ts'
import {
  askForReset,
  PASSWORD,
  sendAuth,
  signIn,
  signUp,
  signUpByMail,
} from '../../support/sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const EMAIL = 'ada@example.com'

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
  /** Runs the test on the service with a real mail server. */
  async function withMail(run: (app: TestApp, mail: MailServer) => Promise<void>) {
    await using mail = await startMailServer()
    await using mailing = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url, ...FROM } })
    await run(mailing, mail)
  }
  const FROM = { MERIDIAN_MAIL_FROM: 'Meridian <geo@shop.example>' }

  it('sends a link to a form of ours at sign-up', async () => {
    await withMail(async (mailing, mail) => {
      await sendAuth(mailing, '/sign-up/email', { email: EMAIL, password: PASSWORD, name: 'Ada' })
      const { to, from, text } = await mail.next()
      assert.deepEqual([to, from], [[EMAIL], 'geo@shop.example'])
      assert.match(text, /^http:\/\/127\.0\.0\.1:8787\/app\/sign-in\?verify=[\w.-]+$/m)
    })
  })

  it('sends a token that sets a password once and ends all sessions', async () => {
    await withMail(async (mailing, mail) => {
      const token = await signUpByMail(mailing, mail)
      const reset = await askForReset(mailing, mail)
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

  it('lets a user created on the command line set a password', async () => {
    await withMail(async (mailing, mail) => {
      await mailing.makeKey({ email: EMAIL })
      const token = await askForReset(mailing, mail)
      await sendAuth(mailing, '/reset-password', { token, newPassword: PASSWORD })
      assert.ok(await signIn(mailing))
    })
  })

  it('answers identically for an unknown address, and sends nothing', async () => {
    await withMail(async (mailing, mail) => {
      await mailing.makeKey({ email: EMAIL })
      const known = await sendAuth(mailing, '/request-password-reset', { email: EMAIL })
      await mail.next()
      const unknown = await sendAuth(mailing, '/request-password-reset', { email: 'e@e.example' })
      assert.deepEqual(unknown.body, known.body)
      assert.equal(mail.received(), 1)
    })
  })

  it('signs users up while the mail server is down, and logs that', async () => {
    const log = recordingLog()
    await using mailing = await makeApp({ log, env: { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:1' } })
    await sendAuth(mailing, '/sign-up/email', { email: EMAIL, password: PASSWORD, name: 'Ada' })
    while (log.events.length === 0) await nextTurn()
    assert.equal(log.events[0]?.message, 'cannot send mail')
  })
})
