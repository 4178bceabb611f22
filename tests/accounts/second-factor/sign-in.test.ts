import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { makeFail, readValue } from '../../support/database/sql.ts'
import { makeApp } from '../../support/helpers.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { freshClient } from '../../support/scene/send.ts'
import { askForReset, lookUpWith, PASSWORD, sendAuth, signUp } from '../../support/sign-in.ts'
import { beginSignIn, signUpWithFactor } from './with-factor.ts'

const EMAIL = 'ada@example.com'
const Token = v.object({ token: v.string() })

const app = freshScene()

const verify = (challenge: string, code: string) =>
  sendAuth(app, '/two-factor/verify', { challenge, code })

const count = (sql: string) => readValue(app, sql)
const logins = () => count("SELECT count(*) FROM audit_log WHERE action = 'login'")
const sessions = () => count('SELECT count(*) FROM sessions')

describe('a sign-in with a second factor', () => {
  it('gets no session, cookie or login entry before the code, and one of each after it', async () => {
    const { code } = await signUpWithFactor(app)
    const before = [await logins(), await sessions()]
    const failing = await makeFail(app.services, 'INSERT ON sessions')
    const body = { email: EMAIL, password: PASSWORD }
    const asked = await sendAuth(app, '/sign-in/email', body)
    const Challenged = v.strictObject({ twoFactorRedirect: v.literal(true), challenge: v.string() })
    const { challenge } = v.parse(Challenged, asked.body)
    assert.equal(asked.headers.get('set-cookie'), null)
    assert.equal(asked.headers.get('set-auth-token'), null)
    assert.equal(await lookUpWith(app, challenge), 401)
    assert.deepEqual([await logins(), await sessions()], before)
    await failing.remove()
    app.pass(30_000)
    const passed = await verify(challenge, await code())
    assert.equal(passed.status, 200, JSON.stringify(passed.body))
    assert.equal(await lookUpWith(app, v.parse(Token, passed.body).token), 200)
    assert.deepEqual([await logins(), await sessions()], [3, 2])
  })

  it('answers as a sign-in without one does', async () => {
    const { code } = await signUpWithFactor(app)
    await signUp(app, 'eve@example.com')
    const challenge = await beginSignIn(app)
    app.pass(30_000)
    const passed = await verify(challenge, await code())
    const eve = { email: 'eve@example.com', password: PASSWORD }
    const plain = await sendAuth(app, '/sign-in/email', eve)
    const shape = (body: unknown) => {
      const { user, ...rest } = v.parse(v.looseObject({ user: v.looseObject({}) }), body)
      return [Object.keys(rest), Object.keys(user)]
    }
    assert.deepEqual(shape(passed.body), shape(plain.body))
    assert.match(passed.headers.get('set-auth-token') ?? '', /^\w+\./)
    assert.equal(passed.headers.get('set-cookie'), null)
  })

  it('takes each code once, also the one that turned it on', async () => {
    const { code } = await signUpWithFactor(app)
    assert.equal((await verify(await beginSignIn(app), await code())).status, 401)
    app.pass(30_000)
    const [one, two] = [await beginSignIn(app), await beginSignIn(app)]
    const text = await code()
    const answers = await Promise.all([verify(one, text), verify(two, text)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401])
    assert.equal((await verify(await beginSignIn(app), text)).status, 401)
    assert.equal(await logins(), 3)
  })

  it('takes no code that is older than the last one', async () => {
    const { code } = await signUpWithFactor(app)
    app.pass(60_000)
    const older = await code()
    app.pass(30_000)
    assert.equal((await verify(await beginSignIn(app), await code())).status, 200)
    assert.equal((await verify(await beginSignIn(app), older)).status, 401)
  })

  it('takes each recovery code once, also from two requests at once, however it is typed', async () => {
    const { recoveryCodes } = await signUpWithFactor(app)
    const [first = '', second = '', third = ''] = recoveryCodes
    assert.equal(new Set(recoveryCodes).size, 10)
    const [one, two] = [await beginSignIn(app), await beginSignIn(app)]
    const answers = await Promise.all([verify(one, first), verify(two, first)])
    assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 401])
    assert.equal((await verify(await beginSignIn(app), first)).status, 401)
    const typed = ` ${second.replace('-', '').toUpperCase()} `
    assert.equal((await verify(await beginSignIn(app), typed)).status, 200)
    assert.equal((await verify(await beginSignIn(app), `${third}0`)).status, 401)
    assert.equal(await count('SELECT count(*) FROM recovery_codes'), 8)
    const used = "SELECT count(*) FROM audit_log WHERE action = 'use_recovery_code'"
    assert.equal(await count(used), 2)
  })

  it('needs a challenge of its own user, not used before, and not older than ten minutes', async () => {
    const { code } = await signUpWithFactor(app)
    const eve = await signUpWithFactor(app, 'eve@example.com')
    app.pass(30_000)
    assert.equal((await verify('x', await code())).status, 401)
    const challenge = await beginSignIn(app)
    assert.equal((await verify(challenge, await eve.code())).status, 401)
    assert.equal((await verify(challenge, await code())).status, 200)
    app.pass(30_000)
    assert.equal((await verify(challenge, await code())).status, 401)
    const late = await beginSignIn(app)
    app.pass(600_000)
    assert.equal((await verify(late, await code())).status, 401)
  })

  it('hides from callers without the password whether there is a second factor', async () => {
    await signUpWithFactor(app)
    const body = { password: 'wrong horse' }
    const known = await sendAuth(app, '/sign-in/email', { ...body, email: EMAIL })
    const unknown = await sendAuth(app, '/sign-in/email', { ...body, email: 'no@example.com' })
    assert.deepEqual([known.status, known.body], [401, unknown.body])
  })

  it('limits wrong codes per account, from whatever addresses and with whatever challenges', async () => {
    const { code, recoveryCodes } = await signUpWithFactor(app)
    for (let tries = 0; tries < 18; tries++) {
      assert.equal((await verify(await beginSignIn(app), '000-000')).status, 401)
    }
    assert.equal((await verify(await beginSignIn(app), recoveryCodes[0] ?? '')).status, 429)
    app.pass(3_600_000)
    assert.equal((await verify(await beginSignIn(app), await code())).status, 200)
  })

  it('limits wrong challenges per address', async () => {
    const from = freshClient()
    const guess = () => sendAuth(app, '/two-factor/verify', { challenge: 'x', code: '1' }, { from })
    for (let tries = 0; tries < 100; tries++) {
      await guess()
      if (tries % 50 === 49) app.pass(60_000)
    }
    assert.equal((await guess()).status, 401)
    for (let tries = 0; tries < 20; tries++) await guess()
    const { status, headers } = await guess()
    assert.equal(status, 429)
    assert.match(headers.get('ratelimit-policy') ?? '', /^"address-sign-ins"/)
  })

  it('answers 400 to bodies that are not of its form', async () => {
    for (const body of ['{', '[]', {}, { challenge: 'x' }, { challenge: 1, code: [] }]) {
      const { status } = await sendAuth(app, '/two-factor/verify', body)
      assert.equal(status, 400, JSON.stringify(body))
    }
  })

  it('is asked for again after a change of the password, which ends challenges under way', async () => {
    const { token, code } = await signUpWithFactor(app)
    const challenge = await beginSignIn(app)
    const headers = { authorization: `Bearer ${token}` }
    const body = { currentPassword: PASSWORD, newPassword: `${PASSWORD} 2` }
    const all = { ...body, revokeOtherSessions: true }
    const changed = await sendAuth(app, '/change-password', all, { headers })
    assert.equal(changed.status, 200)
    assert.equal(await lookUpWith(app, v.parse(Token, changed.body).token), 200)
    app.pass(30_000)
    assert.equal((await verify(challenge, await code())).status, 401)
    const login = { email: EMAIL, password: `${PASSWORD} 2` }
    const again = await sendAuth(app, '/sign-in/email', login)
    assert.deepEqual(Object.keys(again.body ?? {}), ['twoFactorRedirect', 'challenge'])
  })
})

describe('a reset of the password', () => {
  it('neither turns the second factor off nor signs in past it', async () => {
    await using mail = await startMailServer()
    await using mailless = await makeApp()
    await signUpWithFactor(mailless)
    await using mailing = await mailless.restart({ MERIDIAN_SMTP_URL: mail.url })
    const token = await askForReset(mailing, mail)
    const newPassword = `${PASSWORD} 2`
    const reset = await sendAuth(mailing, '/reset-password', { token, newPassword })
    assert.deepEqual(reset.body, { status: true, email: EMAIL })
    const body = { email: EMAIL, password: newPassword }
    const asked = await sendAuth(mailing, '/sign-in/email', body)
    assert.deepEqual(Object.keys(asked.body ?? {}), ['twoFactorRedirect', 'challenge'])
  })
})
