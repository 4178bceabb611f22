import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionInfo } from '../../lib/contract/account/sessions.ts'
import { readValue, write } from '../support/database/sql.ts'
import { codeOf, makeApp, NOON } from '../support/helpers.ts'
import { visitPage } from '../support/scene/pages.ts'
import type { Session } from '../support/scene/person.ts'
import { freshScene } from '../support/scene/scene.ts'
import { PASSWORD, sendAuth } from '../support/sign-in.ts'

const app = freshScene()
const ada = app.user('ada')
const eve = app.user('eve')

const PATH = '/v1/account/me/sessions'
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

async function list({ send }: Session): Promise<SessionInfo[]> {
  return (await send('GET', PATH)).body as SessionInfo[] // safe: checked against the contract
}

const statusOf = async ({ send }: Session) => (await send('GET', '/v1/account/me')).status

describe('the sessions of a user', () => {
  it('are listed with what is known of them, and without their tokens', async () => {
    const first = await ada.signUp()
    await eve.signUp()
    const form = { email: ada.email, password: PASSWORD }
    await visitPage(app, '/app/sign-in', { form, headers: { 'user-agent': 'Browser/1.0' } })
    const sessions = await list(first)
    assert.deepEqual(sessions.map(({ isCurrent }) => isCurrent).toSorted(), [false, true])
    const other = sessions.find(({ isCurrent }) => !isCurrent)
    assert.deepEqual([other?.app, other?.userAgent], ['dashboard', 'Browser/1.0'])
    assert.match(other?.address ?? '', /^198\./)
    assert.equal(JSON.stringify(sessions).includes(first.token), false)
  })

  it('end one by one, and only those of the user', async () => {
    const [first, second] = [await ada.signUp(), await ada.signIn()]
    const id = (await list(second)).find(({ isCurrent }) => isCurrent)?.id ?? ''
    assert.equal((await eve.send('DELETE', `${PATH}/${id}`)).status, 404)
    const ended = await first.send('DELETE', `${PATH}/${id}`)
    assert.deepEqual([ended.status, ended.body], [200, { ended: 1 }])
    assert.deepEqual([await statusOf(first), await statusOf(second)], [200, 401])
    assert.equal((await first.send('DELETE', `${PATH}/${id}`)).status, 404)
  })

  it('end all but the one that asks; a key ends all', async () => {
    const first = await ada.signUp()
    const others = [await ada.signIn(), await ada.signIn()]
    assert.deepEqual((await first.send('DELETE', PATH)).body, { ended: 2 })
    assert.deepEqual(await Promise.all(others.map(statusOf)), [401, 401])
    assert.equal(await statusOf(first), 200)
    await ada.key()
    assert.deepEqual((await ada.send('DELETE', PATH)).body, { ended: 1 })
    assert.equal(await statusOf(first), 401)
  })

  it('are audited when they end', async () => {
    const first = await ada.signUp()
    await ada.signIn()
    await first.send('DELETE', PATH)
    const { body } = await first.send('GET', '/v1/account/me/audit?action=end_session')
    assert.equal((body as { total: number }).total, 1) // safe: checked against the contract
  })

  it('show their last use, exact to an hour', async () => {
    const session = await ada.signUp()
    await write(app, `UPDATE sessions SET updated_at = ${NOON}, expires_at = ${NOON * 2}`)
    const lastUse = async () => (await list(session))[0]?.lastUsedAt
    app.pass(HOUR_MS - 1)
    await lastUse()
    assert.equal(await lastUse(), new Date(NOON).toISOString())
    app.pass(1)
    await lastUse()
    const now = app.services.now()
    // It is written in the background.
    while (Number(await readValue(app, 'SELECT updated_at FROM sessions')) !== now) await sleep(5)
    assert.equal(await lastUse(), new Date(now).toISOString())
  })

  it('end seven days after their last use, in the dashboard with their cookie', async () => {
    const cookie = await ada.enter()
    await write(app, `UPDATE sessions SET updated_at = ${NOON}, expires_at = ${NOON + 7 * DAY_MS}`)
    const extended = async () => {
      const { status, headers } = await visitPage(app, '/app/keys', { cookie })
      assert.equal(status, 200)
      return headers.getSetCookie()
    }
    assert.deepEqual(await extended(), [])
    for (const day of [1, 2]) {
      app.pass(6 * DAY_MS)
      const [renewed = '', ...others] = await extended()
      assert.ok(cookie.includes(renewed.split(';')[0] ?? ''), `day ${6 * day}`)
      assert.deepEqual(others, [])
      assert.match(renewed, /Max-Age=604800/)
      const end = app.services.now() + 7 * DAY_MS
      while (Number(await readValue(app, 'SELECT expires_at FROM sessions')) !== end) await sleep(5)
      assert.deepEqual(await extended(), [], 'once an hour at most')
    }
    app.pass(DAY_MS)
    const left = await ada.submit('/app/sign-out')
    assert.match(left.headers.getSetCookie().join(), /^meridian_dashboard=;[^,]*Max-Age=0[^,]*$/)
  })

  it('end after seven days without use', async () => {
    const session = await ada.signUp()
    await write(app, `UPDATE sessions SET updated_at = ${NOON}, expires_at = ${NOON + 7 * DAY_MS}`)
    app.pass(7 * DAY_MS)
    assert.equal(await statusOf(session), 401)
  })

  // OWASP ASVS 5.0, 7.3.2: an absolute maximum lifetime.
  it('end ninety days after the sign-in, however often they are used', async () => {
    const session = await ada.signUp()
    const [used, ends] = [NOON + 84 * DAY_MS, NOON + 91 * DAY_MS]
    await write(
      app,
      `UPDATE sessions SET created_at = ${NOON}, updated_at = ${used}, expires_at = ${ends}`,
    )
    app.pass(85 * DAY_MS)
    assert.equal(await statusOf(session), 200)
    const end = async () => Number(await readValue(app, 'SELECT expires_at FROM sessions'))
    while ((await end()) === ends) await sleep(5)
    assert.equal(await end(), NOON + 90 * DAY_MS)
    app.pass(5 * DAY_MS)
    assert.equal(await statusOf(session), 401)
  })

  it('are not made longer by better-auth, which does not know when they must end', async () => {
    const { headers } = await ada.signUp()
    const end = Date.now() + DAY_MS
    await write(app, `UPDATE sessions SET updated_at = ${app.services.now()}, expires_at = ${end}`)
    assert.equal((await sendAuth(app, '/get-session', undefined, { headers })).status, 200)
    assert.equal(await readValue(app, 'SELECT expires_at FROM sessions'), end)
  })

  it('need full access, and sign-in by this service', async () => {
    await ada.key({ scopes: ['account:read', 'account:write'] })
    assert.equal(codeOf(await ada.send('GET', PATH)), 'INSUFFICIENT_SCOPE')
    await using remote = await makeApp({ env: { MERIDIAN_AUTH_URL: 'http://127.0.0.1:9' } })
    const bob = remote.user('bob')
    await bob.key()
    for (const method of ['GET', 'DELETE']) {
      assert.equal(codeOf(await bob.send(method, PATH)), 'FORBIDDEN')
    }
  })
})

describe('the devices on the account page', () => {
  it('can be signed out one by one and all at once', async () => {
    await ada.enter()
    const others = [await ada.signIn(), await ada.signIn()]
    const { html } = await ada.visit('/app/account')
    assert.match(html, /This device/)
    const [session = ''] = [...html.matchAll(/name="session" value="([^"]+)"/g)].map(([, id]) => id)
    const one = await ada.submit('/app/account/sessions/end', { session })
    assert.equal(one.location, '/app/account?done=ended')
    const all = await ada.submit('/app/account/sessions/end-others')
    assert.equal(all.location, '/app/account?done=ended-others')
    assert.deepEqual(await Promise.all(others.map(statusOf)), [401, 401])
    assert.equal((await ada.visit('/app/account')).status, 200)
  })
})
