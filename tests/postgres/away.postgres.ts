import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { startPostgres } from '../support/database/postgres-server.ts'
import { codeOf, makeApp, recordingLog, type TestApp } from '../support/helpers.ts'
import { newDataFolder, type Running, startServer } from '../support/process.ts'
import { shared } from '../support/scene/freshly.ts'
import type { SendOptions } from '../support/scene/send.ts'
import { PASSWORD, sendAuth, signUp } from '../support/sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const SITES = '/v1/account/me/sites'
const ORIGIN = 'https://shop.example'

const Usage = v.object({ totalRequests: v.number() })

const server = shared(startPostgres)

const settings = async () => ({
  MERIDIAN_DATABASE_URL: await server.createDatabase(),
  MERIDIAN_SECRET: 'a phrase that nobody guesses '.repeat(2),
  MERIDIAN_CONTACT: 'store',
})
const openNode = async (more: Record<string, string> = {}, log = recordingLog()) =>
  makeApp({ env: { ...(await settings()), ...more }, now: Date.now, log })

/** Repeats the request until its answer has the status. */
async function until(status: number, ask: () => Promise<{ readonly status: number }>) {
  const signal = AbortSignal.timeout(30_000)
  while ((await ask()).status !== status) await sleep(100, undefined, { signal })
}

describe('while PostgreSQL is away', () => {
  let app: TestApp
  let key: string
  let otherKey: string
  let session: string
  const log = recordingLog()
  /** What the log says of repeated work that fails meanwhile. */
  const repeated = [
    'cannot send the heartbeat of this node',
    'cannot look for changed keys',
    'cannot write counters; they are kept',
    'cannot take over the telemetry of a dead node',
  ]
  const countLogged = (wanted: string) =>
    log.events.filter(({ message }) => message === wanted).length
  const bearer = () => ({ headers: { authorization: `Bearer ${session}` } })
  let answered = 0
  const lookUp = async () => {
    // With the option `key`, the fast path would get each request as well.
    const answer = await app.send('GET', LOCATE, { headers: { 'x-api-key': key } })
    if (answer.status === 200) answered += 1
    return answer
  }
  const sendBeacon = () =>
    app.send('POST', '/v1/telemetry/rum', {
      headers: { origin: ORIGIN },
      body: { metrics: { lcp: 1200 } },
    })

  before(async () => {
    app = await openNode({}, log)
    key = await app.makeKey()
    otherKey = await app.makeKey({ email: 'eve@example.com' })
    session = await signUp(app, 'kim@example.com')
    assert.equal((await app.send('POST', SITES, { key, body: { name: ORIGIN } })).status, 201)
    assert.equal((await sendBeacon()).status, 204)
    assert.equal((await lookUp()).status, 200)
    await server.stop()
  })
  after(() => app.close())

  it('answers look-ups with known keys', async () => {
    for (let at = 0; at < 5; at++) assert.equal((await lookUp()).status, 200)
    assert.equal((await app.send('GET', LOCATE, { key: `${key}x` })).status, 401)
  })

  it('answers 503 to everything that needs the database', async () => {
    const requests: (readonly [string, string, SendOptions])[] = [
      ['GET', LOCATE, bearer()],
      ['GET', SITES, { key }],
      ['POST', SITES, { key, body: { name: 'https://other.example' } }],
      ['GET', SITES, bearer()],
      ['GET', '/v1/account/me/keys', { key }],
      ['GET', '/v1/account/me/audit', { key }],
      ['GET', '/v1/billing/subscription', { key }],
      ['GET', '/v1/telemetry/rum/summary?domain=shop.example', { key }],
    ]
    for (const [method, path, options] of requests) {
      const answer = await app.send(method, path, options)
      assert.equal(codeOf(answer), 'SERVICE_UNAVAILABLE', `${method} ${path}: ${answer.text}`)
    }
    assert.equal(codeOf(await sendBeacon()), 'SERVICE_UNAVAILABLE')
    const body = { email: 'kim@example.com', password: PASSWORD }
    assert.equal(codeOf(await sendAuth(app, '/sign-in/email', body)), 'SERVICE_UNAVAILABLE')
  })

  it('answers every operation in the form of the contract', async () => {
    const rows: readonly Operation[] = operations
    for (const { method, path, body } of rows) {
      const some = path.replace('{ipAddress}', '81.2.69.160').replaceAll(/\{\w+\}/g, 'some')
      const headers = { origin: ORIGIN }
      const options = { key: otherKey, headers, ...(body !== undefined && { body: body.example }) }
      const { status, text } = await app.send(method.toUpperCase(), some, options)
      assert.notEqual(status, 500, `${method} ${path}: ${text}`)
    }
  })

  it('is ready for look-ups, but not healthy as a whole', async () => {
    const whole = await app.send('GET', '/health')
    assert.equal(whole.status, 503)
    const ready = await app.send('GET', '/health/ready')
    assert.equal(ready.status, 200)
    const Checks = v.object({ checks: v.unknown() })
    for (const { body } of [whole, ready]) {
      assert.deepEqual(v.parse(Checks, body).checks, { geolocation: true, database: false })
    }
  })

  it('logs each lasting failure once, and its end once', async () => {
    const signal = AbortSignal.timeout(30_000)
    while (!repeated.every(countLogged)) await sleep(100, undefined, { signal })
    await server.start()
    const isOver = (message: string) => countLogged(`over: ${message}`) > 0
    while (!repeated.every(isOver)) await sleep(100, undefined, { signal })
    const others = repeated.flatMap((message) => [message, `over: ${message}`])
    const notOnce = others.filter((message) => countLogged(message) !== 1)
    assert.deepEqual(notOnce, [])
  })

  it('recovers by itself once PostgreSQL is back, and has lost no count', async () => {
    await until(200, () => app.send('GET', SITES, { key }))
    await until(204, sendBeacon)
    await until(200, () => app.send('GET', '/health'))
    assert.equal((await app.send('GET', LOCATE, bearer())).status, 200)
    assert.equal((await lookUp()).status, 200)
    const added = await app.send('POST', SITES, { key, body: { name: 'https://other.example' } })
    assert.equal(added.status, 201)
    app = await app.restart()
    const { body } = await app.send('GET', '/v1/account/me/usage', { key })
    assert.equal(v.parse(Usage, body).totalRequests, answered)
  })
})

describe('MERIDIAN_STALE_KEYS', () => {
  it('is how long known keys are accepted without PostgreSQL', async () => {
    await using app = await openNode({ MERIDIAN_STALE_KEYS: '2' })
    const key = await app.makeKey()
    const lookUp = () => app.send('GET', LOCATE, { key })
    assert.equal((await lookUp()).status, 200)
    await server.stop()
    await until(503, lookUp)
    assert.equal(codeOf(await lookUp()), 'SERVICE_UNAVAILABLE')
    await until(503, () => app.send('GET', '/health/ready'))
    await server.start()
    await until(200, lookUp)
    await until(200, () => app.send('GET', '/health/ready'))
  })
})

describe('a server process, whose sign-in runs in a thread of its own', () => {
  const folder = newDataFolder()
  let running: Running
  before(async () => {
    running = await startServer({ ...folder.settings, ...(await settings()) })
  })
  after(async () => {
    // It has ended already, unless a test has failed.
    await running.stop('SIGKILL')
    folder.remove()
  })
  const email = 'kim@example.com'
  const ask = (path: string, body?: object, headers?: Record<string, string>) =>
    fetch(`${running.url}${path}`, {
      headers: { 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
    })

  it('signs in again by itself once PostgreSQL is back', async () => {
    const signUp = await ask('/api/auth/sign-up/email', { email, password: PASSWORD, name: 'Kim' })
    assert.equal(signUp.status, 200, await signUp.text())
    const signIn = () => ask('/api/auth/sign-in/email', { email, password: PASSWORD })
    await server.stop()
    assert.equal((await signIn()).status, 503)
    await server.start()
    await until(200, signIn)
  })

  it('stops without PostgreSQL, with exit code 1 because counts are lost', async () => {
    const signIn = await ask('/api/auth/sign-in/email', { email, password: PASSWORD })
    const { token } = v.parse(v.object({ token: v.string() }), await signIn.json())
    const headers = { authorization: `Bearer ${token}` }
    const made = await ask('/v1/account/me/keys', { name: 'first', type: 'secret' }, headers)
    const { rawKey } = v.parse(v.object({ rawKey: v.string() }), await made.json())
    await server.stop()
    assert.equal((await ask(LOCATE, undefined, { 'x-api-key': rawKey })).status, 200)
    const { code, stdout, stderr } = await running.stop('SIGTERM')
    assert.deepEqual({ code, stderr }, { code: 1, stderr: '' })
    assert.match(stdout, /"msg":"cannot write counters"/)
    assert.match(stdout, /"msg":"stopped"/)
    await server.start()
  })
})
