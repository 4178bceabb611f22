import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { isEasyToGuess } from '../../../lib/access/sign-in/common-passwords.ts'
import { whyRefused } from '../../../lib/access/sign-in/passwords.ts'
import { makeApp } from '../../support/helpers.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { visitPage } from '../../support/scene/pages.ts'
import { freshScene } from '../../support/scene/scene.ts'
import {
  type AuthAnswer,
  askForReset,
  nextLink,
  PASSWORD,
  sendAuth,
  signIn,
  signUp,
  signUpByMail,
} from '../../support/sign-in.ts'

const app = freshScene()
const ada = app.user('ada')

const EMAIL = 'ada@example.com'

function assertTooCommon({ status, body }: AuthAnswer) {
  assert.equal(status, 400)
  const { code } = v.parse(v.object({ code: v.string(), message: v.string() }), body)
  assert.equal(code, 'PASSWORD_TOO_COMMON')
}

describe('a common password', () => {
  it('is refused at sign-up, in any case and width, as is the e-mail address', async () => {
    const fullWidth = '\uff49\uff4c\uff4f\uff56\uff45\uff59\uff4f\uff55'
    for (const password of ['12345678', 'PassWord1', fullWidth, 'aaaaaaaa', 'ADA@example.com']) {
      const body = { email: EMAIL, password, name: 'Ada' }
      assertTooCommon(await sendAuth(app, '/sign-up/email', body))
    }
    assert.ok(await signUp(app))
  })

  it('may also be one that repeats a short text or has few different characters', async () => {
    const repetitive = ['aaaaaaaa', '12121212', 'abcdabcd', 'ABCDEabcde', 'qwertz1qwertz1']
    for (const password of [...repetitive, '11112222', 'aaabbbcccddd', ' '.repeat(128)]) {
      assert.equal(await isEasyToGuess(password, { email: EMAIL }), true, password)
    }
    for (const password of ['abcdefabcdeg', 'correct horse', 'tr0ub4dor&3', PASSWORD]) {
      assert.equal(await isEasyToGuess(password, { email: EMAIL }), false, password)
    }
  })

  it('is refused as a new password, but not pointed out at sign-in', async () => {
    const { headers } = await ada.signUp()
    const body = { currentPassword: PASSWORD, newPassword: '12345678' }
    assertTooCommon(await sendAuth(app, '/change-password', body, { headers }))
    assert.ok(await signIn(app))
    for (const email of [EMAIL, 'nobody@example.com']) {
      const attempt = await sendAuth(app, '/sign-in/email', { email, password: '12345678' })
      assert.equal(attempt.status, 401)
    }
  })

  it('is refused at a reset, which does not spend the token', async () => {
    await using mail = await startMailServer()
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    await app.makeKey({ email: EMAIL })
    const token = await askForReset(app, mail, EMAIL)
    const reset = (newPassword: string) => sendAuth(app, '/reset-password', { token, newPassword })
    assertTooCommon(await reset('12345678'))
    assert.equal((await reset(PASSWORD)).status, 200)
  })

  it('is refused by the form of the dashboard, which says why', async () => {
    const form = { name: 'Ada', email: EMAIL, password: '12345678' }
    const { status, html } = await visitPage(app, '/app/sign-up', { form })
    assert.equal(status, 400)
    assert.match(html, /role="alert">This password is too easy to guess/)
  })
})

describe('the own address or name as a password', () => {
  const OWNER = { email: 'ada.lovelace@example.com', name: 'Ada King Noel' }
  const OWN = ['ADA.lovelace@example.com', 'adalovelaceexamplecom', 'ada_lovelace', 'ada king-noel']

  it('is recognised in any case, and whatever stands between its letters', async () => {
    for (const password of OWN) {
      assert.equal(await isEasyToGuess(password, OWNER), true, password)
      assert.notEqual(await whyRefused(password, OWNER), null, password)
    }
    for (const password of ['ada.lovelace@example.net', 'ada king noel 1852', '…†‡•‰‹›€']) {
      assert.equal(await isEasyToGuess(password, OWNER), false, password)
    }
  })

  it('is recognised with a Unicode domain as it is typed, and as it is stored', async () => {
    const domains = ['bücher.example', 'xn--bcher-kva.example']
    for (const email of domains.map((domain) => `ada@${domain}`)) {
      for (const password of [...domains.map((domain) => `Ada@${domain}`), 'ada bücher example']) {
        assert.equal(await isEasyToGuess(password, { email }), true, password)
      }
    }
  })

  it('is refused at sign-up, at a change and at a reset, which can then be tried again', async () => {
    await using mail = await startMailServer()
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    for (const password of OWN) {
      assertTooCommon(await sendAuth(app, '/sign-up/email', { ...OWNER, password }))
    }
    await sendAuth(app, '/sign-up/email', { ...OWNER, password: PASSWORD })
    const verificationToken = (await nextLink(mail)).searchParams.get('verify')
    const session = await signIn(app, OWNER.email, { verificationToken })
    const headers = { authorization: `Bearer ${session}` }
    const token = await askForReset(app, mail, OWNER.email)
    for (const newPassword of OWN) {
      const body = { currentPassword: PASSWORD, newPassword }
      assertTooCommon(await sendAuth(app, '/change-password', body, { headers }))
      assertTooCommon(await sendAuth(app, '/reset-password', { token, newPassword }))
    }
    const newPassword = `${PASSWORD} again`
    assert.equal((await sendAuth(app, '/reset-password', { token, newPassword })).status, 200)
  })

  it('is refused by the forms of the dashboard', async () => {
    await using mail = await startMailServer()
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: mail.url } })
    const session = await signUpByMail(app, mail, OWNER.email)
    const token = await askForReset(app, mail, OWNER.email)
    const password = OWNER.email
    const cookie = `meridian_dashboard=${session}`
    const change = { form: { current: PASSWORD, password }, cookie }
    const answers = [
      await visitPage(app, '/app/account/password', change),
      await visitPage(app, '/app/reset', { form: { token, password } }),
    ]
    for (const { status, html } of answers) {
      assert.equal(status, 400)
      assert.match(html, /This password is too easy to guess/)
    }
  })
})
