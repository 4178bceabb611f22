import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import * as v from 'valibot'
import { HealthStatus } from '../../lib/contract/system.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { startLoopbackServer } from '../support/loopback-server.ts'
import { addKey, newDataFolder, type Running, startServer } from '../support/process.ts'
import { falseClock } from './false-clock.ts'

// run: only on Node.js

/* The clock is set a day ahead and a day back while the server runs; then the server is restarted. */

const OFFSETS = { '+0': 0, '+1d': DAY_MS, '-1d': -DAY_MS }
type Offset = keyof typeof OFFSETS
const PER_MINUTE = 60
const ORIGIN = 'https://shop.example'
const WAIT_MS = 30_000

const { dataDir, settings: folder, remove } = newDataFolder()
const plans = join(dataDir, 'plans.json')
const clockFile = join(dataDir, 'clock')
const settings: Record<string, string> = {
  ...folder,
  MERIDIAN_PLANS: plans,
  MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
}

/** The answer of the receiver of inquiries, and the number of inquiries it has accepted. */
const receiver = { status: 500, accepted: 0 }
const webhook = await startLoopbackServer((request, response) => {
  if (receiver.status === 200) receiver.accepted += 1
  request.resume().on('end', () => response.writeHead(receiver.status).end())
})

let server: Running
let wide: string
let narrow: string
let session: string
before(async () => {
  const plan = { maxKeys: 10, maxSites: 10, monthlyCap: 10 ** 9, price: 0 }
  writeFileSync(
    plans,
    JSON.stringify([
      { id: 'free', name: 'Narrow', ...plan, requestsPerMinute: PER_MINUTE },
      { id: 'wide', name: 'Wide', ...plan, price: 1, requestsPerMinute: 10 ** 6 },
    ]),
  )
  settings['MERIDIAN_CONTACT'] = webhook.origin
  settings['MERIDIAN_CONTACT_SECRET'] = `whsec_${Buffer.alloc(32).toString('base64')}`
  narrow = await addKey(settings, 'narrow@example.com', '--plan', 'free', '--scopes', 'all')
  wide = await addKey(settings, 'wide@example.com', '--plan', 'wide', '--scopes', 'all')
  server = await startServer({ ...settings, ...falseClock(clockFile) })
  session = await signUp()
  assert.equal((await post('/v1/account/me/sites', { name: ORIGIN })).status, 201)
})
after(async () => {
  // Closed first: if `before` has failed, an open server would keep this process alive.
  await webhook[Symbol.asyncDispose]()
  await server.stop('SIGKILL')
  remove()
})

async function signUp(): Promise<string> {
  const user = { email: 'ada@example.com', password: crypto.randomUUID(), name: 'Ada' }
  const answer = await fetch(`${server.url}/api/auth/sign-up/email`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(user),
  })
  assert.equal(answer.status, 200)
  return v.parse(v.object({ token: v.string() }), await answer.json()).token
}

let clients = 0

/** Sends each request from another address, since addresses are limited. */
function ask(path: string, init: RequestInit = {}, key = wide): Promise<Response> {
  clients += 1
  const from = { 'x-api-key': key, 'x-forwarded-for': `10.8.0.${clients & 255}` }
  return fetch(`${server.url}${path}`, { ...init, headers: { ...from, ...init.headers } })
}

function post(path: string, body: object): Promise<Response> {
  const headers = { origin: ORIGIN }
  return ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** The number of look-ups answered 200. */
let answered = 0

async function lookUp(key: string) {
  const answer = await ask('/v1/ip/81.2.69.160', {}, key)
  await answer.text()
  if (answer.status === 200) answered += 1
  const limit = answer.headers.get('ratelimit') ?? ''
  const [, left = '', seconds = ''] = /;r=(-?\d+);t=(-?\d+)/.exec(limit) ?? []
  const wait = Number(answer.headers.get('retry-after') ?? 0)
  assert.ok(Number(left) >= 0 && Number(seconds) >= 0 && wait >= 0, `${left} ${seconds} ${wait}`)
  const isShort = Number(seconds) <= 60 && wait <= 60
  assert.ok(isShort, `${seconds} ${wait}: no limit may block for more than a minute`)
  return answer.status
}

async function readHealth() {
  const answer = await ask('/health')
  return v.parse(HealthStatus, await answer.json())
}

async function waitFor(event: string, hasHappened: () => boolean | Promise<boolean>) {
  const deadline = performance.now() + WAIT_MS
  for (; !(await hasHappened()); await sleep(100)) assert.ok(performance.now() < deadline, event)
}

/** Sets the clock of the server, and waits until the server shows the new time. */
async function setClock(offset: Offset): Promise<void> {
  writeFileSync(clockFile, offset)
  await waitFor(`the clock goes ${offset}`, async () => {
    const { timestamp } = await readHealth()
    return Math.abs(Date.parse(timestamp) - Date.now() - OFFSETS[offset]) < HOUR_MS
  })
}

/** Uses up the limit of the narrow key. Returns how many requests were answered. */
async function useUpLimit(): Promise<number> {
  let allowed = 0
  while ((await lookUp(narrow)) === 200) allowed += 1
  return allowed
}

const waitUntilAllowed = () =>
  waitFor('the limit allows a request', async () => (await lookUp(narrow)) === 200)

describe('a clock that is set a day ahead and back while the server runs', () => {
  /** Hours in which beacons were sent, since 1970. */
  const hours = new Set<number>()
  let beacons = 0

  for (const offset of ['+1d', '-1d', '+0'] as const) {
    it(`stops no look-ups, sessions, beacons or health checks: ${offset}`, async () => {
      await setClock(offset)
      // A busy disk may delay the write of the check.
      await waitFor('the server is healthy', async () => (await readHealth()).status === 'ok')
      for (let n = 0; n < 20; n++) assert.equal(await lookUp(wide), 200)
      const headers = { authorization: `Bearer ${session}` }
      assert.equal((await fetch(`${server.url}/v1/account/me`, { headers })).status, 200)
      const sentAt = Date.now() + OFFSETS[offset]
      const beacon = { path: '/', deviceType: 'mobile', metrics: { lcp: 1_200 } }
      for (let n = 0; n < 5; n++, beacons++) {
        assert.equal((await post('/v1/telemetry/rum', beacon)).status, 204)
      }
      for (const at of [sentAt, Date.now() + OFFSETS[offset]]) hours.add(Math.floor(at / HOUR_MS))
    })
  }

  it('neither blocks callers nor lifts their rate limit', async () => {
    await setClock('+0')
    await useUpLimit()
    await setClock('-1d')
    await waitUntilAllowed()
    await useUpLimit()
    const since = performance.now()
    await setClock('+1d')
    const allowed = await useUpLimit()
    const refilled = ((performance.now() - since) / 60_000) * PER_MINUTE
    assert.ok(allowed > 0 && allowed <= PER_MINUTE + refilled, `${allowed} were allowed`)
    await setClock('+0')
    await waitUntilAllowed()
  })

  it('does not delay a failed inquiry by a day', async () => {
    await setClock('+1d')
    assert.equal((await post('/v1/billing/contact', { name: 'Ada', message: 'Hello' })).status, 200)
    await waitFor('delivery is tried', () => server.output().includes('cannot deliver an inquiry'))
    // First, so that no attempt fails once the clock is right again.
    receiver.status = 200
    await setClock('+0')
    await waitFor('the inquiry is delivered', () => receiver.accepted === 1)
  })

  it('keeps counters and beacons in the hours in which they were sent, and logs no error', async () => {
    await setClock('+1d')
    await useUpLimit()
    const { code, stdout } = await server.stop('SIGTERM')
    assert.equal(code, 0)
    assert.doesNotMatch(stdout, /"level":50/)
    const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
    const all = (sql: string) => db.prepare(sql).pluck().all().map(Number)
    assert.deepEqual(all('SELECT sum(requests) FROM usage_by_period'), [answered])
    assert.deepEqual(all('SELECT sum(look_ups) FROM usage_by_operation'), [answered])
    assert.deepEqual(all('SELECT sum(samples) FROM rum_hours'), [beacons])
    for (const hour of all('SELECT DISTINCT hour FROM rum_hours')) assert.ok(hours.has(hour))
    const negative = 'SELECT (SELECT count(*) FROM buckets WHERE spent < 0) + count(*)'
    assert.deepEqual(all(`${negative} FROM usage_by_operation WHERE look_ups < 0`), [0])
    db.close()
  })

  it('blocks nothing after a restart with the right clock', async () => {
    server = await startServer(settings)
    assert.equal(await lookUp(wide), 200)
    await waitUntilAllowed()
    assert.equal((await post('/v1/account/me/keys', { name: 'second' })).status, 201)
  })
})
