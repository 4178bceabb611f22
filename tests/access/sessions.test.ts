import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SessionInfo } from '../../lib/contract/account/sessions.ts'
import { readValue, write } from '../support/database/sql.ts'
import { codeOf, makeApp, NOON, type TestApp } from '../support/helpers.ts'
import { signInNewUser, visitPage } from '../support/scene/pages.ts'
import { PASSWORD, signIn, signUp } from '../support/sign-in.ts'

const PATH = '/v1/account/me/sessions'
const HOUR_MS = 3_600_000

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } })

async function list(app: TestApp, token: string): Promise<SessionInfo[]> {
  const { body } = await app.send('GET', PATH, bearer(token))
  return body as SessionInfo[] // safe: checked against the contract
}

const statusOf = async (app: TestApp, token: string) =>
  (await app.send('GET', '/v1/account/me', bearer(token))).status

describe('the sessions of a user', () => {
  it('are listed with what is known of them, and without their tokens', async () => {
    await using app = await makeApp()
    const first = await signUp(app)
    await signUp(app, 'eve@example.com')
    const form = { email: 'ada@example.com', password: PASSWORD }
    await visitPage(app, '/app/sign-in', { form, headers: { 'user-agent': 'Browser/1.0' } })
    const sessions = await list(app, first)
    assert.deepEqual(sessions.map(({ isCurrent }) => isCurrent).toSorted(), [false, true])
    const other = sessions.find(({ isCurrent }) => !isCurrent)
    assert.deepEqual([other?.app, other?.userAgent], ['dashboard', 'Browser/1.0'])
    assert.match(other?.address ?? '', /^198\./)
    assert.equal(JSON.stringify(sessions).includes(first), false)
  })

  it('end one by one, and only those of the user', async () => {
    await using app = await makeApp()
    const first = await signUp(app)
    const second = await signIn(app)
    const stranger = await signUp(app, 'eve@example.com')
    const id = (await list(app, second)).find(({ isCurrent }) => isCurrent)?.id ?? ''
    const foreign = await app.send('DELETE', `${PATH}/${id}`, bearer(stranger))
    assert.equal(foreign.status, 404)
    const ended = await app.send('DELETE', `${PATH}/${id}`, bearer(first))
    assert.deepEqual([ended.status, ended.body], [200, { ended: 1 }])
    assert.deepEqual([await statusOf(app, first), await statusOf(app, second)], [200, 401])
    assert.equal((await app.send('DELETE', `${PATH}/${id}`, bearer(first))).status, 404)
  })

  it('end all but the one that asks; a key ends all', async () => {
    await using app = await makeApp()
    const first = await signUp(app)
    const others = [await signIn(app), await signIn(app)]
    const { body } = await app.send('DELETE', PATH, bearer(first))
    assert.deepEqual(body, { ended: 2 })
    assert.deepEqual(await Promise.all(others.map((token) => statusOf(app, token))), [401, 401])
    assert.equal(await statusOf(app, first), 200)
    const key = await app.makeKey()
    assert.deepEqual((await app.send('DELETE', PATH, { key })).body, { ended: 1 })
    assert.equal(await statusOf(app, first), 401)
  })

  it('are audited when they end', async () => {
    await using app = await makeApp()
    const first = await signUp(app)
    await signIn(app)
    await app.send('DELETE', PATH, bearer(first))
    const path = '/v1/account/me/audit?action=end_session'
    const { body } = await app.send('GET', path, bearer(first))
    assert.equal((body as { total: number }).total, 1) // safe: checked against the contract
  })

  it('show their last use, exact to an hour', async () => {
    let now = NOON
    await using app = await makeApp({ now: () => now })
    const token = await signUp(app)
    await write(app, `UPDATE sessions SET updated_at = ${NOON}, expires_at = ${NOON * 2}`)
    const lastUse = async () => (await list(app, token))[0]?.lastUsedAt
    now += HOUR_MS - 1
    await lastUse()
    assert.equal(await lastUse(), new Date(NOON).toISOString())
    now += 1
    await lastUse()
    // It is written in the background.
    while (Number(await readValue(app, 'SELECT updated_at FROM sessions')) !== now) await sleep(5)
    assert.equal(await lastUse(), new Date(now).toISOString())
  })

  it('need full access, and sign-in by this service', async () => {
    await using app = await makeApp()
    const key = await app.makeKey({ scopes: ['account:read', 'account:write'] })
    assert.equal(codeOf(await app.send('GET', PATH, { key })), 'INSUFFICIENT_SCOPE')
    await using remote = await makeApp({ env: { MERIDIAN_AUTH_URL: 'http://127.0.0.1:9' } })
    const full = await remote.makeKey()
    for (const method of ['GET', 'DELETE']) {
      assert.equal(codeOf(await remote.send(method, PATH, { key: full })), 'FORBIDDEN')
    }
  })
})

describe('the devices on the account page', () => {
  it('can be signed out one by one and all at once', async () => {
    await using app = await makeApp()
    const cookie = await signInNewUser(app)
    const [second, third] = [await signIn(app), await signIn(app)]
    const { html } = await visitPage(app, '/app/account', { cookie })
    assert.match(html, /This device/)
    const [session = ''] = [...html.matchAll(/name="session" value="([^"]+)"/g)].map(([, id]) => id)
    const one = await visitPage(app, '/app/account/sessions/end', { cookie, form: { session } })
    assert.equal(one.location, '/app/account?done=ended')
    const all = await visitPage(app, '/app/account/sessions/end-others', { cookie, form: {} })
    assert.equal(all.location, '/app/account?done=ended-others')
    assert.deepEqual([await statusOf(app, second), await statusOf(app, third)], [401, 401])
    assert.equal((await visitPage(app, '/app/account', { cookie })).status, 200)
  })
})
