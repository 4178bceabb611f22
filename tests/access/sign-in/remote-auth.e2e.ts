import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { createFindRemoteSession } from '../../lib/access/remote-auth.ts'
import { ask, cookieOf } from '../dashboard.ts'
import { codeOf, makeApp, recordingLog, type TestApp } from '../helpers.ts'
import { PASSWORD } from '../sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'

interface AuthService {
  readonly url: string
  /** Makes it sick, or well again with ''. */
  setMode(mode: string): Promise<void>
  /** How often it was asked for a session. */
  asked(): Promise<number>
  signUp(email: string, password?: string): Promise<string>
  signOut(token: string): Promise<void>
  kill(): Promise<void>
}

async function startAuthService(): Promise<AuthService> {
  const args = ['--import', 'tsx', 'tests/e2e/better-auth-server.ts']
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
        'x-client': freshClient(),
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

let clients = 0

function freshClient(): string {
  clients += 1
  return `198.18.0.${clients}`
}

async function killed(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('with a remote auth service', () => {
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
    app.close()
  })

  const locate = (token: string) =>
    app.send('GET', LOCATE, { headers: { authorization: `Bearer ${token}` } })
  const later = (ms: number) => {
    now += ms
  }

  it('a session of it is good here, for a user who is added', async () => {
    const token = await auth.signUp('ada@example.com')
    const { status, body } = await locate(token)
    assert.equal(status, 200)
    assert.equal(
      v.parse(v.object({ meta: v.object({ tier: v.string() }) }), body).meta.tier,
      'free',
    )
    const users = app.services.db.$client.prepare('SELECT email, name, plan FROM users').all()
    assert.deepEqual(users, [{ email: 'ada@example.com', name: 'Ada', plan: 'free' }])
    const audit = 'SELECT app, action, actor_label FROM audit_log'
    assert.deepEqual(app.services.db.$client.prepare(audit).all(), [
      { app: 'api', action: 'create_user', actor_label: 'ada@example.com' },
    ])
  })

  it('people sign in at the dashboard with their password there, and out again', async () => {
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

  it('people are told where it does not answer as an auth service does', async () => {
    const form = { email: 'dora@example.com', password: PASSWORD }
    for (const mode of ['html', 'empty', 'broken', 'moved', 'truncated', 'endless']) {
      await auth.setMode(mode)
      const { status, html } = await ask(app, '/app/sign-in', { form })
      assert.equal(status, 503, mode)
      assert.match(html, /Nobody can sign in or out now/)
    }
    await auth.setMode('')
  })

  it('what is no session of it is 401', async () => {
    for (const token of ['nonsense', 'a.b', `${'x'.repeat(32)}.${'y'.repeat(44)}`]) {
      assert.equal(codeOf(await locate(token)), 'UNAUTHORIZED', token)
    }
  })

  it('is not asked about texts that can be no token of it, API keys above all', async () => {
    const asked = await auth.asked()
    const key = await app.makeKey({ email: 'kim@example.com' })
    for (const token of [key, `${key}x`, 'x'.repeat(600), 'a"b', 'ü']) {
      const code = token === 'ü' ? null : codeOf(await locate(token))
      if (code !== null) assert.equal(code, 'UNAUTHORIZED', token.slice(0, 10))
    }
    assert.equal(await auth.asked(), asked)
  })

  it('is asked once a minute for each session, and once for requests that come together', async () => {
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

  it('signs out here within a minute', async () => {
    const token = await auth.signUp('eve@example.com')
    assert.equal((await locate(token)).status, 200)
    await auth.signOut(token)
    later(60_000)
    assert.equal(codeOf(await locate(token)), 'UNAUTHORIZED')
  })

  it('signs out here within a minute, also where the clock is set back a day', async () => {
    const token = await auth.signUp('ned@example.com')
    assert.equal((await locate(token)).status, 200)
    await auth.signOut(token)
    later(-24 * 3_600_000)
    assert.equal(codeOf(await locate(token)), 'UNAUTHORIZED')
    later(24 * 3_600_000)
  })

  for (const mode of [
    'limited',
    'broken',
    'html',
    'empty',
    'shapeless',
    'revealing',
    'quoting',
    'endless',
    'truncated',
    'moved',
  ]) {
    it(`is unavailable while it is ${mode}, and nobody is signed out by that`, async () => {
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

  it('is unavailable while it does not answer in time', async () => {
    const options = {
      url: auth.url,
      adopt: async () => 'nobody',
      findUser: async () => null,
      onTrouble: () => {},
    }
    await auth.setMode('silent')
    const impatient = createFindRemoteSession({ ...options, timeoutMs: 50 })
    await assert.rejects(impatient('some-token', now), { code: 'AUTH_UNAVAILABLE' })
    await auth.setMode('')
    assert.equal(await createFindRemoteSession(options)('some-token', now), null)
  })

  it('has no sign-in here', async () => {
    assert.equal((await app.send('POST', '/api/auth/sign-in/email', { body: {} })).status, 404)
  })

  it('its limit of requests is trouble of its own, too', async () => {
    const token = await auth.signUp('max@example.com')
    const ask = () => fetch(`${auth.url}/api/auth/get-session`)
    let status = 200
    for (let n = 0; n < 200 && status !== 429; n++) status = (await ask()).status
    assert.equal(status, 429)
    assert.equal(codeOf(await locate(token)), 'AUTH_UNAVAILABLE')
  })

  it('leaves keys alone when it is down', async () => {
    const token = await auth.signUp('down@example.com')
    const key = await app.makeKey({ email: 'kim@example.com' })
    await auth.kill()
    assert.equal(codeOf(await locate(token)), 'AUTH_UNAVAILABLE')
    assert.equal((await app.send('GET', LOCATE, { key })).status, 200)
  })
})
