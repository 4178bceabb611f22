import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { AUTH_REQUESTS } from '../../../lib/contract/account/auth.ts'
import { makeFail, readColumn, readRows, readValue, write } from '../../support/database/sql.ts'
import { codeOf, makeApp } from '../../support/helpers.ts'
import { freshScene } from '../../support/scene/scene.ts'
import { freshClient } from '../../support/scene/send.ts'
import { lookUpWith, PASSWORD, sendAuth, signUp } from '../../support/sign-in.ts'

const EMAIL = 'ada@example.com'
const credentials = { email: EMAIL, password: PASSWORD }

const app = freshScene()
const ada = app.user('ada')

const rows = (sql: string) => readRows(app, sql)

describe('POST /api/auth/sign-up/email', () => {
  it('creates a user of the free plan, whose session works at once', async () => {
    const token = await signUp(app, 'Ada@Example.com')
    assert.equal(await lookUpWith(app, token), 200)
    assert.deepEqual(await rows('SELECT email, name, email_verified, plan FROM users'), [
      [EMAIL, 'Ada', 0, 'free'],
    ])
  })

  it('gives the first account of the server, and no later one, the plan of the house', async () => {
    await using fresh = await makeApp({ isNew: true })
    await signUp(fresh)
    await signUp(fresh, 'bob@example.com')
    const plans = () => readColumn(fresh, 'SELECT plan FROM users ORDER BY email')
    assert.deepEqual(await plans(), ['unlimited', 'free'])
    await write(fresh, 'DELETE FROM users')
    await signUp(fresh, 'eve@example.com')
    assert.deepEqual(await plans(), ['free'])
  })

  it('ignores plan, id and verification in the body', async () => {
    const extra = { plan: 'pro', emailVerified: true, id: 'mine', createdAt: '2020-01-01' }
    const body = { ...credentials, name: 'Ada', ...extra }
    const { status } = await sendAuth(app, '/sign-up/email', body)
    const made = await rows(
      "SELECT 1 FROM users WHERE plan <> 'free' OR email_verified = 1 OR id = 'mine'",
    )
    assert.ok(status === 400 || made.length === 0, `${status}`)
  })

  it('refuses an address that is taken, and does not change its user', async () => {
    await app.makeKey({ email: EMAIL })
    const { status } = await sendAuth(app, '/sign-up/email', { ...credentials, name: 'Eve' })
    assert.equal(status, 422)
    assert.equal((await sendAuth(app, '/sign-in/email', credentials)).status, 401)
  })

  it('creates one user from many simultaneous sign-ups with one address', async () => {
    const signUps = Array.from({ length: 5 }, () =>
      sendAuth(app, '/sign-up/email', { ...credentials, name: 'Ada' }),
    )
    const statuses = (await Promise.all(signUps)).map(({ status }) => status)
    assert.deepEqual(await rows('SELECT count(*) AS users FROM users'), [[1]])
    assert.equal(statuses.filter((status) => status === 200).length, 1)
    assert.deepEqual(
      statuses.filter((status) => status >= 500),
      [],
    )
  })

  it('answers 400 to a name of more than 100 characters, as update-user does', async () => {
    const statusOf = async (body: object) => (await sendAuth(app, '/sign-up/email', body)).status
    const named = (length: number) => statusOf({ ...credentials, name: 'x'.repeat(length) })
    assert.equal(await named(101), 400)
    assert.equal(await named(100), 200)
    const image = `https://kim.example/${'x'.repeat(1_000)}`
    const kim = { email: 'kim@example.com', password: PASSWORD, name: 'Kim' }
    assert.equal(await statusOf({ ...kim, image }), 400)
  })

  it('is refused if sign-up is closed', async () => {
    await using closed = await makeApp({ env: { MERIDIAN_SIGN_UP: 'closed' } })
    const { status } = await sendAuth(closed, '/sign-up/email', { ...credentials, name: 'Ada' })
    assert.equal(status, 400)
  })
})

describe('POST /api/auth/sign-in/email', () => {
  it('answers with the token, as the contract says', async () => {
    await signUp(app)
    const { status, body, headers } = await sendAuth(app, '/sign-in/email', credentials)
    assert.equal(status, 200)
    const Time = v.pipe(v.string(), v.isoTimestamp())
    const User = v.strictObject({
      ...{ id: v.string(), email: v.literal(EMAIL), name: v.string(), image: v.null() },
      ...{ emailVerified: v.literal(false), createdAt: Time, updatedAt: Time },
    })
    const Answered = v.object({ redirect: v.literal(false), token: v.string(), user: User })
    const { token, user } = v.parse(Answered, body)
    assert.equal(await lookUpWith(app, token), 200)
    assert.deepEqual(await rows('SELECT id FROM users'), [[user.id]])
    assert.match(headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
    assert.equal(headers.get('cache-control'), 'no-store')
  })

  it('returns a signed token in set-auth-token, which is refused if its signature is changed', async () => {
    await signUp(app)
    const { headers } = await sendAuth(app, '/sign-in/email', credentials)
    const signed = headers.get('set-auth-token') ?? ''
    assert.match(signed, /^\w+\./)
    assert.equal(await lookUpWith(app, signed), 200)
    assert.equal(await lookUpWith(app, encodeURIComponent(decodeURIComponent(signed))), 200)
    const [token = '', signature = ''] = decodeURIComponent(signed).split('.')
    const touched = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`
    assert.equal(await lookUpWith(app, `${token}.${touched}`), 401)
    assert.equal(await lookUpWith(app, `${token}.`), 401)
  })

  it('answers 401 to a wrong password and, identically, to an unknown address', async () => {
    await signUp(app)
    const wrong = await sendAuth(app, '/sign-in/email', { ...credentials, password: 'wrong horse' })
    const other = { ...credentials, email: 'eve@example.com' }
    const unknown = await sendAuth(app, '/sign-in/email', other)
    assert.equal(wrong.status, 401)
    assert.deepEqual(unknown.body, wrong.body)
    assert.equal(unknown.status, 401)
  })

  it('works for a script whose fetch sends Sec-Fetch-Mode and no Origin', async () => {
    await signUp(app)
    const headers = { 'sec-fetch-mode': 'cors' }
    assert.equal((await sendAuth(app, '/sign-in/email', credentials, { headers })).status, 200)
  })

  it('refuses pages of other sites, and accepts our own', async () => {
    await signUp(app)
    const from = (origin: string) => {
      const headers = { origin, 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'cross-site' }
      return sendAuth(app, '/sign-in/email', credentials, { headers })
    }
    assert.equal((await from('https://evil.example')).status, 403)
    assert.equal((await from('null')).status, 403)
    assert.equal((await from('http://127.0.0.1:8787')).status, 200)
    assert.equal((await from('http://localhost:8787')).status, 200)
  })

  it('admits many users behind one address', async () => {
    const from = freshClient()
    for (let n = 0; n < 4; n++) {
      const user = { email: `${n}@example.com`, password: PASSWORD }
      const signedUp = await sendAuth(app, '/sign-up/email', { ...user, name: 'Ada' }, { from })
      assert.equal(signedUp.status, 200)
      assert.equal((await sendAuth(app, '/sign-in/email', user, { from })).status, 200)
    }
  })

  it('is logged as login in the transaction that begins the session', async () => {
    await signUp(app)
    const logins = () => rows("SELECT actor_label, app FROM audit_log WHERE action = 'login'")
    assert.deepEqual(await logins(), [[EMAIL, 'api']])
    await makeFail(app.services, 'INSERT ON audit_log')
    const failed = await sendAuth(app, '/sign-in/email', credentials)
    assert.equal(codeOf(failed), 'INTERNAL')
    assert.deepEqual(await rows('SELECT count(*) AS sessions FROM sessions'), [[1]])
  })

  it('answers bad input with 4xx', async () => {
    for (const body of ['{', '[]', '"x"', '{}', { email: 'x' }, { email: 1, password: [] }]) {
      const { status } = await sendAuth(app, '/sign-in/email', body)
      assert.equal(status, 400, JSON.stringify(body))
    }
    const large = { ...credentials, filler: 'x'.repeat(20_000) }
    assert.equal((await sendAuth(app, '/sign-in/email', large)).status, 413)
    const long = { ...credentials, password: 'x'.repeat(10_000) }
    assert.equal((await sendAuth(app, '/sign-in/email', long)).status, 400)
  })
})

describe('a session', () => {
  it('keeps only the beginning of a long user agent', async () => {
    await signUp(app, 'agent@example.com')
    const headers = { 'user-agent': 'x'.repeat(12_000) }
    const body = { email: 'agent@example.com', password: PASSWORD }
    assert.equal((await sendAuth(app, '/sign-in/email', body, { headers })).status, 200)
    const longest = 'SELECT max(length(user_agent)) FROM sessions'
    assert.equal(await readValue(app, longest), 300)
  })
})

describe('POST /api/auth/update-user', () => {
  it('accepts a name and an image, and answers 400 to anything else', async () => {
    const { headers } = await ada.signUp()
    const update = (body: unknown) => sendAuth(app, '/update-user', body, { headers })
    assert.equal((await update({ name: 'Grace', image: null })).status, 200)
    const bad: unknown[] = [
      { name: 5 },
      { name: ['A', 'B'], image: {} },
      { name: { a: 1 } },
      { plan: 'pro' },
    ]
    const image = 'https://cdn.example/kim.png'
    assert.equal((await update({ image })).status, 200)
    assert.deepEqual(await rows('SELECT image FROM users'), [[image]])
    const images = ['javascript:alert(1)', '"><x>', 'data:text/html,x', '//cdn.example/x', '']
    for (const text of images) bad.push({ image: text })
    for (const body of [...bad, { name: 'x'.repeat(101) }, '{', '[]']) {
      assert.equal((await update(body)).status, 400, JSON.stringify(body))
    }
    assert.deepEqual(await rows('SELECT name, plan FROM users'), [['Grace', 'free']])
  })
})

describe('any request below /api/auth', () => {
  it('is answered below 500 with a request id, whatever its method and body', async () => {
    for (const { path } of AUTH_REQUESTS) {
      for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS']) {
        const request = new Request(`http://127.0.0.1:8787/api/auth${path}?token=%00&token=x`, {
          method,
          headers: { 'content-type': 'application/json', cookie: 'meridian.session_token=x.y' },
          ...(!['GET', 'HEAD'].includes(method) && { body: '{"token":7,"email":{}}' }),
        })
        const answer = await app.app.fetch(request, { remoteAddress: freshClient() })
        assert.ok(answer.status < 500, `${method} ${path}: ${answer.status}`)
        assert.match(answer.headers.get('x-request-id') ?? '', /^[0-9a-f-]{36}$/)
      }
    }
  })
})

describe('an endpoint of better-auth that is not in our list', () => {
  it('is not reachable through a path that leads out of a served one', async () => {
    const { headers } = await ada.signUp()
    for (const path of ['ok', 'list-sessions', 'list-accounts', 'error']) {
      for (const way of ['..%5C', '%2e%2e%5c', '..%2F', '..%5C..%5Cauth%5C']) {
        const escaped = `/reset-password/${way}${path}?callbackURL=/`
        assert.equal((await sendAuth(app, escaped, undefined, { headers })).status, 404, escaped)
      }
    }
  })

  it('is not served', async () => {
    const { headers } = await ada.signUp()
    for (const path of ['/list-sessions', '/ok', '/error', '/token', '/delete-user', '']) {
      const answer = await sendAuth(app, path, undefined, { headers })
      assert.equal(answer.status, 404, path)
      assert.equal(codeOf(answer), 'NOT_FOUND')
    }
    for (const path of ['/delete-user', '/revoke-session', '/change-email', '/sign-in/social']) {
      assert.equal((await sendAuth(app, path, {}, { headers })).status, 404, path)
    }
  })
})

describe('malformed Unicode in a request to /api/auth', () => {
  it('is refused alike, whether or not the address has an account', async () => {
    await signUp(app)
    const half = '/\ud800'
    for (const email of [EMAIL, 'nobody@example.com']) {
      const fields = { email, password: PASSWORD, name: 'Ada', token: 'x', newPassword: PASSWORD }
      for (const { method, path } of AUTH_REQUESTS.filter(({ body }) => body !== undefined)) {
        for (const name of ['callbackURL', 'redirectTo', 'name', 'newPassword', 'token']) {
          const refused = await sendAuth(app, path, { ...fields, [name]: half }, { method })
          assert.equal(refused.status, 400, `${path} ${name}`)
          assert.equal(codeOf(refused), 'BAD_REQUEST')
        }
      }
    }
    assert.deepEqual(await rows('SELECT email FROM users'), [[EMAIL]])
  })
})

describe('a live session behind an address whose limit is used up', () => {
  it('still signs out, changes the password and is limited by user', async () => {
    const from = freshClient()
    for (let n = 0; n < 60; n++) await app.send('GET', '/v1', { from })
    const { headers } = await ada.signUp()
    const ask = (path: string, body?: object) => sendAuth(app, path, body, { from, headers })
    const seen = await ask('/get-session')
    assert.equal(seen.status, 200)
    assert.match(seen.headers.get('ratelimit') ?? '', /^"per-user";/)
    const passwords = { currentPassword: PASSWORD, newPassword: `${PASSWORD} 2` }
    assert.equal((await ask('/change-password', passwords)).status, 200)
    assert.equal((await ask('/sign-out', {})).status, 200)
    assert.equal((await ask('/get-session')).status, 429)
  })
})
