import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { spendCode } from '../../../lib/accounts/second-factor/spend-code.ts'
import { makeFail, readRows } from '../../support/database/sql.ts'
import { codeOf, makeApp } from '../../support/helpers.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { lookUpWith, PASSWORD, signIn, signUp } from '../../support/sign-in.ts'
import { words } from '../../support/words.ts'
import { beginSignIn, Codes, callWith, PATH, signUpWithFactor } from './with-factor.ts'

const EMAIL = 'ada@example.com'

const app = freshScene()
const bob = app.user('bob')

const rows = (sql: string) => readRows(app, sql)
/** What is stored of the second factor. */
const stored = async () =>
  [await rows('SELECT * FROM second_factors'), await rows('SELECT * FROM recovery_codes')] as const
const audited = () =>
  rows(`SELECT action, app, actor_label FROM audit_log
    WHERE action LIKE '%factor' OR action LIKE '%recovery%' ORDER BY id`)

describe('turning the second factor on', () => {
  it('asks for the password, and counts only after the first code', async () => {
    const call = callWith(app, await signUp(app))
    assert.equal((await call('', { password: 'wrong horse' })).status, 400)
    assert.equal((await call('', {})).status, 400)
    assert.equal((await call('/confirm', { code: '123456' })).status, 400)
    assert.equal((await call('', { password: PASSWORD })).status, 200)
    assert.equal((await call('/confirm', { code: '12345' })).status, 400)
    assert.deepEqual((await call('')).body, { isOn: false })
    await signIn(app)
    assert.deepEqual(await audited(), [])
  })

  it('is not for an account without a password, as the command line makes them', async () => {
    await bob.key()
    const answer = await bob.send('POST', PATH, { password: PASSWORD })
    assert.match(answer.text, /This account has no password/)
  })

  it('names the instance in the app of the user', async () => {
    await using other = await makeApp({ env: { MERIDIAN_BASE_URL: 'https://geo.example' } })
    const call = callWith(other, await signUp(other))
    const { body } = await call('', { password: PASSWORD })
    const { uri } = v.parse(v.object({ uri: v.string() }), body)
    assert.equal(new URL(uri).searchParams.get('issuer'), 'Meridian (geo.example)')
  })

  it('gives ten recovery codes, is audited, and ends the sessions that began without it', async () => {
    const { token, call, recoveryCodes, other } = await signUpWithFactor(app)
    assert.equal(recoveryCodes.length, 10)
    const since = new Date(app.services.now()).toISOString()
    assert.deepEqual((await call('')).body, { isOn: true, since, recoveryCodes: 10 })
    assert.deepEqual(await audited(), [['enable_two_factor', 'api', EMAIL]])
    assert.equal(await lookUpWith(app, other), 401)
    assert.equal(await lookUpWith(app, token), 200)
    const again = await call('', { password: PASSWORD })
    assert.equal(codeOf(again), 'BAD_REQUEST')
  })

  it('keeps neither secret nor recovery codes in plain text', async () => {
    const { secret, recoveryCodes } = await signUpWithFactor(app)
    const all = JSON.stringify([
      ...(await stored()),
      await rows('SELECT * FROM verifications'),
      await rows('SELECT * FROM audit_log'),
    ])
    const bare = recoveryCodes.flatMap((code) => [code, code.replace('-', '')])
    for (const text of [secret, secret.toLowerCase(), ...bare]) assert.ok(!all.includes(text))
    assert.match(all, /"enable_two_factor"/)
  })

  it('is refused where a remote service signs users in', async () => {
    await using remote = await makeApp({ env: { MERIDIAN_AUTH_URL: 'http://127.0.0.1:9' } })
    const key = await remote.makeKey()
    assert.equal(codeOf(await remote.send('GET', PATH, { key })), 'FORBIDDEN')
    assert.equal(codeOf(await remote.send('POST', PATH, { key, body: {} })), 'FORBIDDEN')
  })

  it('limits tries per user', async () => {
    const call = callWith(app, await signUp(app))
    for (let tries = 0; tries < 20; tries++) await call('/confirm', { code: '123456' })
    assert.equal(codeOf(await call('/confirm', { code: '123456' })), 'RATE_LIMITED')
  })
})

describe('the recovery codes', () => {
  it('are replaced with the password and a code, which is then used', async () => {
    const { call, code, recoveryCodes } = await signUpWithFactor(app)
    const renew = (given: object) => call('/recovery-codes', { password: PASSWORD, ...given })
    assert.equal((await renew({ code: await code() })).status, 400)
    app.pass(30_000)
    assert.equal((await renew({ code: await code(), password: 'wrong horse' })).status, 400)
    const renewed = await renew({ code: await code() })
    assert.equal(renewed.status, 200, renewed.text)
    const fresh = v.parse(Codes, renewed.body).recoveryCodes
    assert.ok(recoveryCodes.every((old) => !fresh.includes(old)))
    assert.equal((await renew({ code: recoveryCodes[0] })).status, 400)
    assert.equal((await renew({ code: fresh[0] })).status, 200)
    const actions = (await audited()).map(([action]) => action)
    const expected = words(`
      enable_two_factor renew_recovery_codes use_recovery_code renew_recovery_codes`)
    assert.deepEqual(actions, expected)
  })
})

describe('turning the second factor off', () => {
  it('needs the password and a code, and leaves nothing', async () => {
    const { call, code, recoveryCodes } = await signUpWithFactor(app)
    const remove = (given: object) => call('/remove', { password: PASSWORD, ...given })
    app.pass(30_000)
    assert.equal((await remove({})).status, 400)
    assert.equal((await remove({ code: await code(), password: 'wrong horse' })).status, 400)
    assert.equal((await remove({ code: '123-456' })).status, 400)
    assert.deepEqual((await remove({ code: recoveryCodes[3] })).body, { isOn: false })
    assert.deepEqual(await stored(), [[], []])
    assert.deepEqual((await audited()).at(-1), ['disable_two_factor', 'api', EMAIL])
    await signIn(app)
  })

  it('writes the audit row in the same transaction', async () => {
    const { call, recoveryCodes } = await signUpWithFactor(app)
    await makeFail(app.services, 'INSERT ON audit_log')
    const body = { password: PASSWORD, code: recoveryCodes[0] }
    assert.equal((await call('/remove', body)).status, 500)
    assert.equal((await rows('SELECT * FROM recovery_codes')).length, 10)
  })
})

describe('a code', () => {
  it('is accepted once, even by simultaneous requests', async () => {
    const { code, recoveryCodes } = await signUpWithFactor(app)
    const [[userId] = []] = await rows('SELECT id FROM users')
    const actor = { app: 'api', userId: String(userId), label: EMAIL } as const
    app.pass(30_000)
    for (const text of [await code(), recoveryCodes[0] ?? '']) {
      const entered = { actor, code: text, now: app.services.now() }
      const spend = () => spendCode(app.services.secondFactors, entered)
      const spent = await Promise.all([spend(), spend(), spend()])
      assert.deepEqual(spent.sort(), [false, false, true])
    }
  })
})

describe('an action that asks for the password', () => {
  it('asks for a code, too: a change of the address', async () => {
    const { token, code } = await signUpWithFactor(app)
    const headers = { authorization: `Bearer ${token}` }
    const change = (given: object) => {
      const body = { email: 'new@example.com', password: PASSWORD, ...given }
      return app.send('POST', '/v1/account/me/email', { headers, body })
    }
    app.pass(30_000)
    assert.match((await change({})).text, /code: is missing/)
    assert.equal((await change({ code: '000-000' })).status, 400)
    assert.equal((await change({ code: await code() })).status, 200)
    assert.ok(await beginSignIn(app, 'new@example.com'))
  })

  it('asks for a code, too: the deletion of the account, which also deletes the second factor', async () => {
    const { token, recoveryCodes } = await signUpWithFactor(app)
    const headers = { authorization: `Bearer ${token}` }
    const end = (given: object) => {
      const body = { email: EMAIL, password: PASSWORD, ...given }
      return app.send('POST', '/v1/account/me/delete', { headers, body })
    }
    assert.equal((await end({})).status, 400)
    assert.equal((await end({ code: recoveryCodes[0] })).status, 200)
    assert.deepEqual(await stored(), [[], []])
  })
})
