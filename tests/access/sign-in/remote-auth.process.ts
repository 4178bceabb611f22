import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { hashToken } from '../../../lib/access/session-token.ts'
import { createFindRemoteSession } from '../../../lib/access/sign-in/remote-auth.ts'
import { readColumn, readRows } from '../../support/database/sql.ts'
import { codeOf, makeApp, recordingLog, type TestApp } from '../../support/helpers.ts'
import { LOADER } from '../../support/runtime.ts'
import { visitPage as ask, cookieOf } from '../../support/scene/pages.ts'
import { freshClient } from '../../support/scene/send.ts'
import { PASSWORD } from '../../support/sign-in.ts'
import { words } from '../../support/words.ts'

const LOCATE = '/v1/ip/81.2.69.160'

interface AuthService {
  readonly url: string
  /** Makes the service misbehave; '' makes it behave again. */
  setMode(mode: string): Promise<void>
  /** The number of requests for a session. */
  asked(): Promise<number>
  signUp(email: string, password?: string): Promise<string>
  signOut(token: string): Promise<void>
  kill(): Promise<void>
}

async function startAuthService(): Promise<AuthService> {
  const args = [...LOADER, 'tests/access/sign-in/better-auth-server.ts']
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  const url = String(line).trim()
  const post = async (path: string, body: unknown, token?: string) => {
    const response = await fetch(`${url}/api/auth${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: {
        'content-type': 'application/json',
        origin: 'http://auth.example',
        'x-forwarded-for': freshClient(),
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    })
    assert.equal(response.status, 200)
    return response.json()
  }
  return {
    url,
    setMode: async (mode) => {
      await fetch(`${url}/mode`, { method: 'POST', body: mode })
    },
    asked: async () => Number(await (await fetch(`${url}/asked`)).text()),
    signUp: async (email, password = crypto.randomUUID()) => {
      const user = { email, password, name: 'Ada' }
      return v.parse(v.object({ token: v.string() }), await post('/sign-up/email', user)).token
    },
    signOut: async (token) => {
      await post('/sign-out', {}, token)
    },
    kill: () => killed(child),
  }
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('the service with a remote auth service', () => {
  let auth: AuthService
  let app: TestApp
  let now = Date.now()
  const log = recordingLog()
  before(async () => {
    auth = await startAuthService()
    app = await makeApp({ env: { MERIDIAN_AUTH_URL: auth.url }, log, now: () => now })
  })
  after(async () => {
    await auth.kill()
    await app.close()
  })

  const locate = (token: string, from = freshClient()) =>
    app.send('GET', LOCATE, { headers: { authorization: `Bearer ${token}` }, from })
  const later = (ms: number) => {
    now += ms
  }

  const audited = (email: string) =>
    readColumn(app, 'SELECT action FROM audit_log WHERE actor_label = ? ORDER BY id', email)

  it('accepts sessions of the auth service, and adds their users', async () => {
    const token = await auth.signUp('ada@example.com')
    const { status, body } = await locate(token)
    assert.equal(status, 200)
    assert.equal(
      v.parse(v.object({ meta: v.object({ tier: v.string() }) }), body).meta.tier,
      'free',
    )
    const users = await readRows(app, 'SELECT email, name, plan FROM users')
    assert.deepEqual(users, [['ada@example.com', 'Ada', 'free']])
    assert.deepEqual(await audited('ada@example.com'), ['create_user', 'login'])
  })

  it('records a login when a session is first seen, also across restarts', async () => {
    const email = 'lea@example.com'
    const token = await auth.signUp(email)
    await Promise.all([locate(token), locate(token)])
    later(60_000)
    assert.equal((await locate(token)).status, 200)
    assert.deepEqual(await audited(email), ['create_user', 'login'])
    app = await app.restart()
    assert.equal((await locate(token)).status, 200)
    assert.deepEqual(await audited(email), ['create_user', 'login'])
    const stored = await readColumn(app, 'SELECT token_hash FROM sessions')
    assert.equal(stored.includes(hashToken(token)), false, 'not valid for the built-in sign-in')
  })

  it('lets users sign in to the dashboard with their password at the auth service, and sign out', async () => {
    await auth.signUp('dora@example.com', PASSWORD)
    const form = { email: 'dora@example.com', password: PASSWORD }
    const refused = await ask(app, '/app/sign-in', { form: { ...form, password: 'wrong horse' } })
    assert.equal(refused.status, 401)
    const entered = await ask(app, '/app/sign-in', { form })
    assert.equal(entered.location, '/app', entered.html)
    const cookie = cookieOf(entered)
    assert.match((await ask(app, '/app/account', { cookie })).html, /dora@example\.com/)
    await ask(app, '/app/sign-out', { cookie, form: {} })
    later(60_000)
    assert.equal((await ask(app, '/app', { cookie })).location, '/app/sign-in')
    assert.equal((await ask(app, '/app/sign-up')).status, 404)
  })

  it('shows an error page if the auth service sends an invalid answer', async () => {
    const form = { email: 'dora@example.com', password: PASSWORD }
    for (const mode of ['html', 'empty', 'broken', 'moved', 'truncated', 'endless']) {
      await auth.setMode(mode)
      const { status, html } = await ask(app, '/app/sign-in', { form })
      assert.equal(status, 503, mode)
      assert.match(html, /The sign-in service is unavailable now/)
    }
    await auth.setMode('')
  })

  it('answers 401 to a token that the auth service does not know', async () => {
    for (const token of ['nonsense', 'a.b', `${'x'.repeat(32)}.${'y'.repeat(44)}`]) {
      assert.equal(codeOf(await locate(token)), 'UNAUTHORIZED', token)
    }
  })

  it('never sends the auth service an API key or other text that cannot be a session token', async () => {
    const asked = await auth.asked()
    const key = await app.makeKey({ email: 'kim@example.com' })
    assert.equal((await locate(key)).status, 200)
    for (const token of [`${key}x`, 'x'.repeat(600), 'a"b']) {
      assert.equal(codeOf(await locate(token)), 'UNAUTHORIZED', token.slice(0, 10))
    }
    assert.equal(await auth.asked(), asked)
  })

  it('checks each session once a minute, and once for simultaneous requests', async () => {
    const token = await auth.signUp('bob@example.com')
    const asked = await auth.asked()
    const answers = await Promise.all(Array.from({ length: 8 }, () => locate(token)))
    assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200])
    later(59_000)
    assert.equal((await locate(token)).status, 200)
    assert.equal((await auth.asked()) - asked, 1)
    later(1_000)
    assert.equal((await locate(token)).status, 200)
    assert.equal((await auth.asked()) - asked, 2)
  })

  it('ends a session within a minute after its sign-out', async () => {
    const token = await auth.signUp('eve@example.com')
    assert.equal((await locate(token)).status, 200)
    await auth.signOut(token)
    later(60_000)
    assert.equal(codeOf(await locate(token)), 'UNAUTHORIZED')
  })

  it('ends a session within a minute even if the clock is set back a day', async () => {
    const token = await auth.signUp('ned@example.com')
    assert.equal((await locate(token)).status, 200)
    await auth.signOut(token)
    later(-24 * 3_600_000)
    assert.equal(codeOf(await locate(token)), 'UNAUTHORIZED')
    later(24 * 3_600_000)
  })

  for (const mode of words(`
    limited broken html empty shapeless revealing quoting endless truncated moved`)) {
    it(`answers 503 while the auth service is ${mode}, and signs nobody out`, async () => {
      const token = await auth.signUp(`${mode}@example.com`)
      await auth.setMode(mode)
      log.events.length = 0
      assert.equal(codeOf(await locate(token)), 'AUTH_UNAVAILABLE')
      assert.equal(log.events[0]?.message, 'cannot ask the auth service')
      assert.equal(JSON.stringify(log.events).includes(token), false)
      await auth.setMode('')
      assert.equal((await locate(token)).status, 200)
      await auth.setMode(mode)
      assert.equal((await locate(token)).status, 200)
      later(60_000)
      assert.equal(codeOf(await locate(token)), 'AUTH_UNAVAILABLE')
      await auth.setMode('')
    })
  }

  it('answers 503 while the auth service does not answer in time', async () => {
    const options = {
      onSession: async () => {},
      url: auth.url,
      adopt: async () => 'nobody',
      findUser: async () => null,
      onFailure: () => {},
    }
    await auth.setMode('silent')
    const impatient = createFindRemoteSession({ ...options, timeoutMs: 50 })
    await assert.rejects(impatient('some-token', now), { code: 'AUTH_UNAVAILABLE' })
    await auth.setMode('')
    assert.equal(await createFindRemoteSession(options)('some-token', now), null)
  })

  it('confirms no session that cannot be stored', async () => {
    const token = await auth.signUp('full@example.com')
    const full = new Error('database or disk is full')
    const find = createFindRemoteSession({
      onSession: () => Promise.reject(full),
      url: auth.url,
      adopt: async () => 'somebody',
      findUser: async () => assert.fail('the session is not confirmed'),
      onFailure: () => {},
    })
    for (let n = 0; n < 2; n++) await assert.rejects(find(token, now), full)
  })

  it('does not serve the sign-in endpoint itself', async () => {
    assert.equal((await app.send('POST', '/api/auth/sign-in/email', { body: {} })).status, 404)
  })

  it('answers 503 to a client that the auth service limits, but not to others', async () => {
    const token = await auth.signUp('max@example.com')
    const from = freshClient()
    let code = ''
    for (let n = 0; n < 200 && code !== 'AUTH_UNAVAILABLE'; n++) {
      code = codeOf(await locate('nonsense', from))
    }
    assert.equal(codeOf(await locate(token, from)), 'AUTH_UNAVAILABLE')
    assert.equal((await locate(token)).status, 200)
  })

  it('accepts keys while the auth service is down', async () => {
    const token = await auth.signUp('down@example.com')
    const key = await app.makeKey({ email: 'kim@example.com' })
    await auth.kill()
    assert.equal(codeOf(await locate(token)), 'AUTH_UNAVAILABLE')
    assert.equal((await app.send('GET', LOCATE, { key })).status, 200)
  })
})
