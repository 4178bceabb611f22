import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AuthCall } from '../../lib/access/sign-in/embedded-auth.ts'
import { users } from '../../lib/db/tables.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../support/helpers.ts'
import { freshMailScene } from '../support/scene/mail.ts'
import { type Page, visitPage } from '../support/scene/pages.ts'
import { freshScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'
import {
  type AuthAnswer,
  askForReset,
  PASSWORD,
  sendAuth,
  signIn,
  signUp,
} from '../support/sign-in.ts'
import { many, statuses } from './answers.ts'

const app = freshScene()
const ada = app.user('ada')
const kim = app.user('kim')

const EMAIL = 'ada@example.com'
/** What Ada signs in with. */
const RIGHT = { email: EMAIL, password: PASSWORD }

/** The Cookie header with the device token of the page; empty if it sets none. */
function deviceOf({ headers }: Page): string {
  const cookies = headers.getSetCookie().filter((cookie) => cookie.startsWith('meridian_device='))
  return cookies[0]?.split(';')[0] ?? ''
}

/** Spends the limit of failed sign-ins, as wrong passwords do. */
function useUp({ services }: TestApp, id: string, times = 20): void {
  for (let n = 0; n < times; n++) services.limits.signIns.take(id, NOON)
}

const enterWith = (form: Record<string, string>, cookie = '', by = app) =>
  visitPage(by, '/app/sign-in', { cookie, form })

let isBroken = false

/** Answers 503 while `isBroken`, as better-auth does without its database. */
function breakable(handle: TestApp['services']['handleAuth']) {
  return async (call: AuthCall) => {
    if (isBroken) return new Response(null, { status: 503 })
    assert.ok(handle !== null)
    return handle(call)
  }
}

describe('sign-in', () => {
  it('refuses an account, existing or not, for a while after 20 wrong passwords from any addresses', async () => {
    await signUp(app)
    await signUp(app, 'kim@example.com')
    for (const email of [EMAIL, 'nobody@example.com']) {
      const guess = (text: string) =>
        sendAuth(app, '/sign-in/email', { email: text, password: 'wrong horse' })
      const both = [...(await statuses(10, () => guess(email)))]
      both.push(...(await statuses(10, () => guess(email.toUpperCase()))))
      assert.deepEqual(both, many(401, 20))
      const refused = await guess(email)
      assert.equal(refused.status, 429)
      assert.equal(codeOf(refused), 'RATE_LIMITED')
      assert.equal(refused.headers.get('ratelimit-policy'), '"sign-ins";q=20;w=900')
      assert.match(refused.headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    }
    assert.equal((await sendAuth(app, '/sign-in/email', RIGHT)).status, 429)
    const other = { ...RIGHT, email: 'kim@example.com' }
    assert.equal((await sendAuth(app, '/sign-in/email', other)).status, 200)
  })

  it('is not charged for while it is unavailable', async () => {
    const replace = ({ handleAuth }: TestApp['services']) => ({ handleAuth: breakable(handleAuth) })
    await using app = await makeApp({ replace })
    await signUp(app)
    isBroken = true
    const right = () => sendAuth(app, '/sign-in/email', RIGHT)
    assert.deepEqual(await statuses(21, right), many(503, 21))
    isBroken = false
    assert.equal((await right()).status, 200)
  })

  it('is open to a browser that has signed in to the account, which has a limit of its own', async () => {
    await kim.enter()
    await signUp(app)
    const known = deviceOf(await enterWith(RIGHT))
    const others = deviceOf(await enterWith({ ...RIGHT, email: 'kim@example.com' }))
    useUp(app, EMAIL)
    const enter = (cookie: string, password = PASSWORD) =>
      enterWith({ email: EMAIL, password }, cookie)
    for (const cookie of ['', others, `${known}x`, known.replace('=', '=x')]) {
      assert.equal((await enter(cookie)).status, 429, cookie)
    }
    assert.equal((await enter(known)).status, 303)
    const { devices } = app.services
    useUp(app, await devices.limitId(EMAIL, known.split('=')[1] ?? ''), 19)
    assert.deepEqual(await statuses(2, () => enter(known, 'wrong horse')), [401, 429])
  })

  it('after a password change is open to the browser that made it, not to those known before', async () => {
    const session = await ada.enter()
    const old = deviceOf(await enterWith(RIGHT))
    const change = { current: PASSWORD, password: `${PASSWORD} 2` }
    const page = { cookie: `${session}; ${old}`, form: change }
    const renewed = deviceOf(await visitPage(app, '/app/account/password', page))
    useUp(app, EMAIL)
    const enter = (cookie: string) => enterWith({ email: EMAIL, password: change.password }, cookie)
    assert.equal((await enter(old)).status, 429)
    assert.equal((await enter(renewed)).status, 303)
  })

  it('knows a browser by one token of each account, and counts its sessions for the account', async () => {
    await signUp(app)
    await signUp(app, 'kim@example.com')
    const enter = (email: string, cookie: string) =>
      enterWith({ email, password: PASSWORD }, cookie)
    const first = deviceOf(await enter(EMAIL, ''))
    const both = deviceOf(await enter('kim@example.com', first))
    assert.equal(deviceOf(await enter(EMAIL, both)), both)
    for (const email of [EMAIL, 'kim@example.com']) useUp(app, email)
    assert.equal((await enter(EMAIL, both)).status, 303)
    assert.equal((await enter('kim@example.com', both)).status, 303)
    for (let n = 0; n < 60; n++) app.services.limits.newSessions.take(EMAIL, NOON)
    assert.equal((await enter(EMAIL, both)).status, 429)
  })

  it('does not charge the account for the right password', async () => {
    await signUp(app)
    const answers = await statuses(22, () => sendAuth(app, '/sign-in/email', RIGHT))
    assert.deepEqual(answers, many(200, 22))
  })

  it('starts 60 sessions of an account at once, then one more every minute', async () => {
    await signUp(app)
    for (let n = 0; n < 59; n++) app.services.limits.newSessions.take(EMAIL, app.services.now())
    const ask = (body: object) => sendAuth(app, '/sign-in/email', body)
    assert.equal((await ask({ ...RIGHT, password: 'wrong horse' })).status, 401)
    assert.deepEqual(await statuses(2, () => ask(RIGHT)), [200, 429])
    app.pass(60_000)
    assert.deepEqual(await statuses(2, () => ask(RIGHT)), [200, 429])
  })

  it('reads only JSON, so that no form can name another account than the one it charges', async () => {
    await signUp(app)
    const trick = `{"email":"decoy@example.com","password":"x","y":"&email=${EMAIL}&password=guess&z="}`
    for (const type of ['application/x-www-form-urlencoded', 'text/plain', '']) {
      const headers = { 'content-type': type }
      assert.equal((await sendAuth(app, '/sign-in/email', trick, { headers })).status, 400, type)
    }
  })
})

describe('the password of a user', () => {
  it('may be tried or changed 20 times an hour, whatever sessions the user has', async () => {
    const tokens = [await signUp(app), await signIn(app)]
    const change = (currentPassword: string, token?: string) => {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
      const body = { currentPassword, newPassword: PASSWORD }
      return sendAuth(app, '/change-password', body, { headers })
    }
    // Otherwise better-auth would read a token that we have not charged.
    assert.equal((await change(PASSWORD, `\t${tokens[0]}`)).status, 401)
    const [user] = await app.services.db.select({ id: users.id }).from(users).all()
    for (let n = 0; n < 18; n++) app.services.limits.passwords.take(String(user?.id), NOON)
    assert.equal((await change('wrong horse', tokens[0])).status, 400)
    assert.equal((await change(PASSWORD, tokens[1])).status, 200)
    // The change has ended the other session.
    for (const token of [tokens[1], await signIn(app)]) {
      const refused = await change(PASSWORD, token)
      assert.equal(codeOf(refused), 'RATE_LIMITED')
      assert.equal(refused.headers.get('ratelimit-policy'), '"password-changes";q=20;w=3600')
    }
    assert.equal((await change(PASSWORD)).status, 401)
  })
})

describe('mail to one account', () => {
  const { app, mail } = freshMailScene()

  it('is sent five times an hour to reset a password, and refused alike for an unknown address', async () => {
    await app.makeKey({ email: EMAIL })
    for (const email of [EMAIL, 'nobody@example.com']) {
      const ask = () => sendAuth(app, '/request-password-reset', { email })
      assert.deepEqual(await statuses(7, ask), [...many(200, 5), 429, 429])
    }
    for (let n = 0; n < 5; n++) await mail.next()
    assert.equal(mail.received(), 5)
    const form = { email: EMAIL }
    const refused = await visitPage(app, '/app/forgot', { form })
    assert.match(refused.html, /use the newest/)
    const cookie = `meridian_device=${await app.services.devices.remember(EMAIL, '')}`
    const known = await visitPage(app, '/app/forgot', { form, cookie })
    assert.equal(known.location, '/app/sign-in?done=asked')
    await mail.next()
  })

  it('is sent five times an hour to verify an address', async () => {
    await sendAuth(app, '/sign-up/email', { email: EMAIL, password: PASSWORD, name: 'Ada' })
    const ask = () => sendAuth(app, '/send-verification-email', { email: EMAIL })
    assert.deepEqual(await statuses(6, ask), [...many(200, 4), 429, 429])
    for (let n = 0; n < 5; n++) await mail.next()
    assert.equal(mail.received(), 5)
  })
})

describe('sign-in', () => {
  const { app, mail } = freshMailScene()

  it('is open to a browser that has reset the password by the mailed link', async () => {
    await app.makeKey({ email: EMAIL })
    const token = await askForReset(app, mail)
    // Another site may have led the browser here.
    assert.equal(deviceOf(await visitPage(app, `/app/reset?token=${token}`)), '')
    const refused = { ...RIGHT, token: 'wrong' }
    assert.equal(deviceOf(await visitPage(app, '/app/reset', { form: refused })), '')
    const cookie = deviceOf(await visitPage(app, '/app/reset', { form: { ...RIGHT, token } }))
    useUp(app, EMAIL)
    assert.equal((await enterWith(RIGHT, '', app)).status, 429)
    assert.equal((await enterWith(RIGHT, cookie, app)).status, 303)
  })
})

describe('one address', () => {
  const assertRefused = ({ status, headers, body }: AuthAnswer, policy: string) => {
    assert.equal(status, 429)
    assert.equal(codeOf({ body }), 'RATE_LIMITED')
    assert.equal(headers.get('ratelimit-policy'), policy)
    assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
  }
  const spend = ({ services }: TestApp, of: 'addressMails' | 'addressSignIns', from: string) => {
    const { policy, take } = services.limits[of]
    for (let n = 0; n < policy.capacity - 1; n++) take(from, NOON)
  }

  it('may fail to sign in 100 times in 15 minutes, whatever accounts and headers it names', async () => {
    const from = freshClient()
    spend(app, 'addressSignIns', from)
    const guess = (n: number) => {
      const headers = { 'x-forwarded-for': `1.1.1.${n}`, 'x-meridian-client': `2.2.2.${n}` }
      const body = { email: `${n}@example.com`, password: PASSWORD }
      return sendAuth(app, '/sign-in/email', body, { from, headers })
    }
    assert.equal((await guess(1)).status, 401)
    assertRefused(await guess(2), '"address-sign-ins";q=100;w=900')
  })

  it('may sign up and ask for mails 30 times an hour, whatever accounts it names', async () => {
    await using app = await makeApp({ env: { MERIDIAN_SMTP_URL: 'smtp://127.0.0.1:9' } })
    for (const path of ['/sign-up/email', '/request-password-reset', '/send-verification-email']) {
      const from = freshClient()
      spend(app, 'addressMails', from)
      const ask = () => {
        const email = `${crypto.randomUUID()}@example.com`
        return sendAuth(app, path, { email, password: PASSWORD, name: 'Ada' }, { from })
      }
      assert.equal((await ask()).status, 200, path)
      assertRefused(await ask(), '"address-mails";q=30;w=3600')
    }
  })
})
