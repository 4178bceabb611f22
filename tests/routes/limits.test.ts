import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import * as v from 'valibot'
import { mintKey } from '../../lib/access/api-key.ts'
import {
  type Answer,
  codeOf,
  freshClient,
  makeApp,
  NOON,
  recordingLog,
  type TestApp,
} from '../helpers.ts'
import { sendAuth, signUp } from '../sign-in.ts'
import { tempFolder } from '../temp-folder.ts'

const LOCATE = '/v1/ip/81.2.69.160'
const folder = tempFolder()
const log = recordingLog()

let app: TestApp
let now: number
beforeEach(async () => {
  now = NOON
  log.events.length = 0
  app = await makeApp({ now: () => now, log, env: { MERIDIAN_PLANS: plansFile() } })
})
afterEach(() => app.close())

/** The usual plans, and one whose rate is never met. */
function plansFile(): string {
  const plan = (id: string, price: number, monthlyCap: number, requestsPerMinute: number) => ({
    ...{ id, name: id, price, monthlyCap, requestsPerMinute, maxKeys: 10, maxSites: 10 },
  })
  const file = join(folder, 'plans.json')
  const plans = [
    plan('free', 0, 5_000, 10),
    plan('pro', 29, 100_000, 600),
    plan('fast', 1, 5_000, 1_000_000),
    plan('tiny', 2, 10, 1_000_000),
  ]
  writeFileSync(file, JSON.stringify(plans))
  return file
}

function limitOf({ headers }: Answer): string {
  return `${headers.get('ratelimit-policy')} ${headers.get('ratelimit')}`
}

async function statuses(times: number, ask: (n: number) => Promise<Answer>): Promise<number[]> {
  const answers: number[] = []
  for (let n = 0; n < times; n++) answers.push((await ask(n)).status)
  return answers
}

const many = (status: number, times: number) => Array.from({ length: times }, () => status)

describe('the rate limit of a plan', () => {
  it('gives a free key 10 answers, then 429, and again once Retry-After has passed', async () => {
    const key = await app.makeKey({ plan: 'free' })
    const ask = () => app.send('GET', LOCATE, { key })
    const first = await ask()
    assert.equal(limitOf(first), '"per-key";q=10;w=60 "per-key";r=9;t=6')
    assert.deepEqual(await statuses(9, ask), many(200, 9))
    now += 2_500
    const refused = await ask()
    assert.equal(codeOf(refused), 'RATE_LIMITED')
    assert.equal(limitOf(refused), '"per-key";q=10;w=60 "per-key";r=0;t=4')
    assert.equal(refused.headers.get('retry-after'), '4')
    now += 4_000
    assert.equal((await ask()).status, 200)
    assert.equal((await ask()).status, 429)
  })

  it('is that of each key alone, and one for all sessions of a user', async () => {
    const [one, other] = [await app.makeKey({ plan: 'free' }), await app.makeKey({ plan: 'free' })]
    const token = await signUp(app, 'kim@example.com')
    const login = { email: 'kim@example.com', password: 'no' }
    await sendAuth(app, '/sign-in/email', login)
    assert.deepEqual(await statuses(11, () => app.send('GET', LOCATE, { key: one })), [
      ...many(200, 10),
      429,
    ])
    assert.equal((await app.send('GET', LOCATE, { key: other })).status, 200)
    const headers = { authorization: `Bearer ${token}` }
    const session = await app.send('GET', LOCATE, { headers })
    assert.equal(limitOf(session), '"per-user";q=10;w=60 "per-user";r=9;t=6')
  })

  it('follows a change of plan on the next request', async () => {
    const key = await app.makeKey({ plan: 'free' })
    await statuses(10, () => app.send('GET', LOCATE, { key }))
    assert.equal((await app.send('GET', LOCATE, { key })).status, 429)
    app.services.db.$client.exec("UPDATE users SET plan = 'pro'")
    await app.services.keys.change([{ run: () => ({ changes: 0, lastInsertRowid: 0 }) }])
    const answer = await app.send('GET', LOCATE, { key })
    assert.equal(limitOf(answer), '"per-key";q=600;w=60 "per-key";r=589;t=1')
  })

  it('covers bad requests as well, and is told with their errors', async () => {
    const key = await app.makeKey({ plan: 'free' })
    const answer = await app.send('GET', '/v1/ip/foo', { key })
    assert.equal(answer.status, 400)
    assert.match(limitOf(answer), /r=9/)
  })

  it('is as it was after a restart', async () => {
    const key = await app.makeKey({ plan: 'free' })
    await statuses(10, () => app.send('GET', LOCATE, { key }))
    using again = await app.restart()
    now += 5_999
    assert.equal((await again.send('GET', LOCATE, { key })).status, 429)
    now += 1
    assert.equal((await again.send('GET', LOCATE, { key })).status, 200)
  })
})

describe('account and billing', () => {
  it('answer 120 requests of a caller in a minute', async () => {
    const key = await app.makeKey({ plan: 'free' })
    const other = await app.makeKey({ plan: 'free' })
    const ask = () => app.send('GET', '/v1/account/me/keys', { key })
    assert.equal(limitOf(await ask()), '"per-caller";q=120;w=60 "per-caller";r=119;t=1')
    await statuses(119, ask)
    assert.equal((await ask()).status, 429)
    assert.equal((await app.send('GET', '/v1/account/me', { key: other })).status, 200)
    assert.equal((await app.send('GET', LOCATE, { key })).status, 200)
  })
})

describe('what needs no credential', () => {
  it('is answered 60 times a minute to an address', async () => {
    const from = freshClient()
    const ask = () => app.send('GET', '/v1/billing/plans', { from })
    assert.equal(limitOf(await ask()), '"per-address";q=60;w=60 "per-address";r=59;t=1')
    assert.deepEqual(await statuses(60, ask), [...many(200, 59), 429])
    assert.equal((await app.send('GET', '/v1', { from })).status, 429)
    assert.equal((await app.send('GET', '/v1')).status, 200)
  })

  it('is counted for the /64 of an IPv6 address', async () => {
    const from = (host: string) => ({ from: `2001:db8:1:2:${host}` })
    const ask = (n: number) => app.send('GET', '/v1', from(`${n}::1`))
    assert.deepEqual(await statuses(61, ask), [...many(200, 60), 429])
    assert.equal((await app.send('GET', '/v1', { from: '2001:db8:1:3::1' })).status, 200)
  })

  it('is health without a limit', async () => {
    const from = freshClient()
    const ask = () => app.send('GET', '/health', { from })
    assert.deepEqual(await statuses(70, ask), many(200, 70))
  })

  it('is sign-in as well', async () => {
    const from = freshClient()
    for (let n = 0; n < 60; n++) await app.send('GET', '/v1', { from })
    const { status, headers } = await sendAuth(app, '/get-session', undefined, { from })
    assert.equal(status, 429)
    assert.equal(headers.get('retry-after'), '1')
  })
})

describe('bad credentials', () => {
  it('are refused 30 times a minute with 401, then with 429', async () => {
    const from = freshClient()
    const ask = () => app.send('GET', LOCATE, { key: mintKey('secret').text, from })
    const first = await ask()
    assert.match(limitOf(first), /^"failed-credentials";q=30;w=60 "failed-credentials";r=29/)
    assert.deepEqual(await statuses(30, ask), [...many(401, 29), 429])
    const key = await app.makeKey()
    assert.equal((await app.send('GET', LOCATE, { key, from })).status, 200)
    assert.equal((await app.send('GET', LOCATE, { from })).status, 401)
  })

  it('of sessions are not even looked for after that', async () => {
    let asked = 0
    using watched = await makeApp({
      replace: ({ findSession }) => ({
        findSession: (token, at) => {
          asked += 1
          return findSession(token, at)
        },
      }),
    })
    const from = freshClient()
    const headers = { authorization: 'Bearer nonsense' }
    const ask = () => watched.send('GET', LOCATE, { headers, from })
    assert.deepEqual(await statuses(35, ask), [...many(401, 30), ...many(429, 5)])
    assert.equal(asked, 30)
  })
})

const Meta = v.object({ meta: v.object({ precision: v.string(), degraded: v.boolean() }) })

const metaOf = ({ body }: Answer) => v.parse(Meta, body).meta

describe('the monthly cap', () => {
  it('degrades request 5,001 of the month, and the first of the next month no more', async () => {
    const key = await app.makeKey({ plan: 'fast' })
    const ask = () => app.send('GET', LOCATE, { key })
    for (let n = 0; n < 4_999; n++) await ask()
    assert.deepEqual(metaOf(await ask()), { precision: 'city', degraded: false })
    const reduced = await ask()
    assert.deepEqual(metaOf(reduced), { precision: 'country', degraded: true })
    const Country = v.looseObject({
      location: v.strictObject({
        continent: v.strictObject({ code: v.string(), name: v.string() }),
        country: v.strictObject({ code: v.literal('GB'), name: v.string() }),
      }),
      network: v.optional(v.undefined()),
    })
    v.parse(Country, reduced.body)
    now = Date.UTC(2026, 1, 1) - 1
    assert.equal(metaOf(await ask()).degraded, true)
    now += 1
    assert.equal(metaOf(await ask()).degraded, false)
  })

  it('is shared by the keys and sessions of a user', async () => {
    const [one, other] = [await app.makeKey({ plan: 'tiny' }), await app.makeKey({ plan: 'tiny' })]
    for (let n = 0; n < 5; n++) {
      await app.send('GET', LOCATE, { key: one })
      await app.send('GET', LOCATE, { key: other })
    }
    assert.equal(metaOf(await app.send('GET', LOCATE, { key: one })).degraded, true)
    assert.equal(metaOf(await app.send('GET', LOCATE, { key: other })).degraded, true)
  })

  it('closes both timezone endpoints and leaves validation open', async () => {
    const key = await app.makeKey({ plan: 'tiny' })
    for (let n = 0; n < 10; n++) await app.send('GET', LOCATE, { key })
    for (const path of [`${LOCATE}/timezone`, '/v1/ip/me/timezone']) {
      const answer = await app.send('GET', path, { key, from: '81.2.69.160' })
      assert.equal(codeOf(answer), 'PLAN_CAP_EXCEEDED')
    }
    assert.equal((await app.send('GET', `${LOCATE}/validation`, { key })).status, 200)
  })

  it('counts what is answered with 200 or 404, and nothing else', async () => {
    const key = await app.makeKey({ plan: 'free' })
    const counted = () => app.services.meters.periodRequests(userId(), now)
    const userId = () =>
      String(app.services.db.$client.prepare('SELECT id FROM users').pluck().get())
    await app.send('GET', LOCATE, { key })
    await app.send('GET', '/v1/ip/10.0.0.1', { key })
    await app.send('GET', `${LOCATE}/timezone`, { key })
    await app.send('GET', '/v1/ip/foo/validation', { key })
    assert.equal(counted(), 4)
    await app.send('GET', '/v1/ip/foo', { key })
    await app.send('GET', LOCATE, { key: 'bad' })
    await app.send('GET', '/v1/account/me', { key })
    await statuses(6, () => app.send('GET', '/v1/ip/foo', { key }))
    assert.equal((await app.send('GET', LOCATE, { key })).status, 429)
    assert.equal(counted(), 4)
  })

  it('is announced at 80 % and at 100 %, once each, in the audit log and the log', async () => {
    const key = await app.makeKey({ plan: 'tiny' })
    const told = () =>
      app.services.db.$client
        .prepare("SELECT action, detail FROM audit_log WHERE action LIKE '%_cap' ORDER BY id")
        .all()
    const ask = async (times: number) => {
      for (let n = 0; n < times; n++) await app.send('GET', LOCATE, { key })
      app.services.flusher.flushNow()
    }
    await ask(7)
    assert.deepEqual(told(), [])
    const near = { action: 'near_cap', detail: '80 % of 10 requests' }
    await ask(1)
    assert.deepEqual(told(), [near])
    await ask(1)
    await ask(3)
    await ask(3)
    assert.deepEqual(told(), [near, { action: 'reach_cap', detail: '100 % of 10 requests' }])
    assert.deepEqual(
      log.events
        .filter(({ level }) => level === 'warn')
        .map(({ message }) => message)
        .slice(-2),
      ['a user has used 80 % of the monthly cap', 'a user has used 100 % of the monthly cap'],
    )
    now = Date.UTC(2026, 1, 1)
    await ask(8)
    assert.equal(told().length, 3)
  })
})
