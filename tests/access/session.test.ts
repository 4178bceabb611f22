import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { hashToken } from '../../lib/access/session-token.ts'
import { removeExpired, removeIncompleteUsers } from '../../lib/access/sign-in/clean-up.ts'
import { openPlain } from '../../lib/db/connection.ts'
import { apiKeys } from '../../lib/db/tables.ts'
import { openAuth } from '../../lib/services/auth.ts'
import { makeFail, readRows, write } from '../support/database/sql.ts'
import { onlyOnSqlite } from '../support/database/test-database.ts'
import { freshScene } from '../support/scene/scene.ts'
import { lookUpWith, PASSWORD, sendAuth, signIn, signUp } from '../support/sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const credentials = { email: 'ada@example.com', password: PASSWORD }

const app = freshScene()

const rows = (sql: string) => readRows(app, sql)
const ada = app.user('ada')

describe('a user whose sign-up was interrupted', () => {
  it('is removed, and can sign up again', async () => {
    const { db } = app.services
    const failing = await makeFail(app.services, 'INSERT ON accounts')
    const body = { ...credentials, name: 'Ada' }
    assert.equal((await sendAuth(app, '/sign-up/email', body)).status, 500)
    await failing.remove()
    await app.makeKey({ email: 'kim@example.com' })
    await removeIncompleteUsers(db, Date.now() + 30_000)
    assert.equal((await rows('SELECT 1 FROM users')).length, 2)
    await removeIncompleteUsers(db, Date.now() + 61_000)
    assert.deepEqual(await rows('SELECT email FROM users'), [['kim@example.com']])
    assert.ok(await signUp(app))
    await removeIncompleteUsers(db, Date.now() + 61_000)
    assert.equal((await rows('SELECT 1 FROM users')).length, 2)
  })
})

const ofLock = onlyOnSqlite('only SQLite locks the whole database')

describe('a session', () => {
  it('is stored only as a hash', async () => {
    const token = await signUp(app)
    assert.deepEqual(await rows('SELECT token_hash FROM sessions'), [[hashToken(token)]])
  })

  it('ends with sign-out, on the next request', async () => {
    const { token, headers } = await ada.signUp()
    const other = await signIn(app)
    assert.equal((await sendAuth(app, '/sign-out', {}, { headers })).status, 200)
    assert.equal(await lookUpWith(app, token), 401)
    assert.equal(await lookUpWith(app, other), 200)
  })

  it('is shown by get-session, which answers null if there is none', async () => {
    const token = await signUp(app)
    const get = (bearer: string) =>
      sendAuth(app, '/get-session', undefined, { headers: { authorization: `Bearer ${bearer}` } })
    const Shown = v.object({ session: v.object({ token: v.string() }) })
    const { session } = v.parse(Shown, (await get(token)).body)
    assert.equal(session.token, token)
    assert.equal((await get('nonsense')).body, null)
    assert.equal((await get(hashToken(token))).body, null)
  })

  it('is refused if the client sends its hash or a changed token', async () => {
    const token = await signUp(app)
    for (const text of [hashToken(token), `${token}x`, token.slice(1), '', '.', '%', '%00']) {
      assert.equal(await lookUpWith(app, text), 401, text)
    }
    const statusFor = async (authorization: string) =>
      (await app.send('GET', LOCATE, { headers: { authorization } })).status
    assert.equal(await statusFor(token), 401)
    assert.equal(await statusFor(`Basic ${token}`), 401)
    assert.equal(await statusFor(`bearer   ${token}`), 200)
  })

  it('ends when it expires, and is then removed', async () => {
    const token = await signUp(app)
    const { db } = app.services
    await write(app, 'UPDATE sessions SET expires_at = 1')
    assert.equal(await lookUpWith(app, token), 401)
    await removeExpired(db, 1)
    assert.deepEqual(await rows('SELECT count(*) AS sessions FROM sessions'), [[0]])
  })

  const removedAtStart =
    'is removed at the start if it has expired, even if another process holds the lock'
  it(removedAtStart, ofLock, async () => {
    await signUp(app)
    await write(app, 'UPDATE sessions SET expires_at = 1')
    await using opening = new AsyncDisposableStack()
    const other = openPlain(join(app.dataDir, 'app.db'))
    opening.defer(() => {
      other.close()
    })
    other.exec('BEGIN IMMEDIATE')
    openAuth(app.services, app.services.keys, opening)
    await nextTurn()
    other.exec('ROLLBACK')
    while ((await rows('SELECT 1 FROM sessions')).length > 0) await sleep(5)
  })

  it('authorises nothing if it ends while the client is still sending the body, and neither does a key', async () => {
    const { headers: session } = await ada.signUp()
    const key = await app.makeKey({ email: 'kim@example.com' })
    for (const headers of [session, { 'x-api-key': key }]) {
      const rest = Promise.withResolvers<Uint8Array>()
      const body = new ReadableStream<Uint8Array>({
        start: async (stream) => {
          stream.enqueue(new TextEncoder().encode('{"name":'))
          stream.enqueue(await rest.promise)
          stream.close()
        },
      })
      const answer = app.send('POST', '/v1/account/me/keys', { headers, body })
      await nextTurn()
      await write(app, 'DELETE FROM sessions')
      await app.services.keys.change([app.services.db.delete(apiKeys)])
      rest.resolve(new TextEncoder().encode('"late"}'))
      assert.equal((await answer).status, 401)
    }
    assert.deepEqual(await rows('SELECT count(*) AS keys FROM api_keys'), [[0]])
  })

  it('follows a change of plan', async () => {
    await ada.signUp()
    const Answered = v.object({ meta: v.object({ tier: v.string() }) })
    const tier = async () => v.parse(Answered, (await ada.lookUp()).body).meta.tier
    assert.equal(await tier(), 'free')
    await write(app, "UPDATE users SET plan = 'pro'")
    assert.equal(await tier(), 'pro')
  })

  it('is not accepted from a cookie by the API and by sign-in', async () => {
    await signUp(app)
    const { headers } = await sendAuth(app, '/sign-in/email', credentials)
    assert.deepEqual(headers.getSetCookie(), [])
    // As better-auth writes it: the token with its signature.
    const cookie = `meridian.session_token=${headers.get('set-auth-token')}`
    assert.equal((await app.send('GET', LOCATE, { headers: { cookie } })).status, 401)
    const body = { currentPassword: credentials.password, newPassword: `${PASSWORD} 2` }
    const changed = await sendAuth(app, '/change-password', body, { headers: { cookie } })
    assert.equal(changed.status, 401)
  })

  for (const asked of [{}, { revokeOtherSessions: false }]) {
    it(`ends when another session changes the password with ${JSON.stringify(asked)}`, async () => {
      const { token, headers } = await ada.signUp()
      const other = await signIn(app)
      const body = { currentPassword: PASSWORD, newPassword: `${PASSWORD}2`, ...asked }
      assert.equal((await sendAuth(app, '/change-password', body, { headers })).status, 200)
      assert.equal(await lookUpWith(app, other), 401)
      assert.equal(await lookUpWith(app, token), 200)
    })
  }

  it('is replaced by a new one when its user changes the password and asks for that', async () => {
    const { token, headers } = await ada.signUp()
    const other = await signIn(app)
    const passwords = { currentPassword: PASSWORD, newPassword: `${PASSWORD}2` }
    const body = { ...passwords, revokeOtherSessions: true }
    const changed = await sendAuth(app, '/change-password', body, { headers })
    assert.equal(changed.status, 200)
    for (const ended of [token, other]) assert.equal(await lookUpWith(app, ended), 401)
    const fresh = v.parse(v.object({ token: v.string() }), changed.body).token
    assert.equal(await lookUpWith(app, fresh), 200)
    assert.equal((await sendAuth(app, '/sign-in/email', credentials)).status, 401)
    const actions = await rows("SELECT count(*) AS n FROM audit_log WHERE action = 'set_password'")
    assert.deepEqual(actions, [[2]])
  })
})
