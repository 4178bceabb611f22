import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { type Answer, codeOf, freshClient, makeApp, NOON, type TestApp } from '../helpers.ts'
import { plansFile } from '../plans-file.ts'
import { sendAuth, signUp } from '../sign-in.ts'

const LOCATE = '/v1/ip/81.2.69.160'

let app: TestApp
let now: number
beforeEach(async () => {
  now = NOON
  app = await makeApp({ now: () => now, env: { MERIDIAN_PLANS: plansFile() } })
})
afterEach(() => app.close())

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

describe('a session that takes long to check', () => {
  it('is charged when it is let in, and turns no bucket back', async () => {
    const waiting = Promise.withResolvers<void>()
    let slow = true
    using late = await makeApp({
      now: () => now,
      replace: () => ({
        findSession: async () => {
          if (slow) {
            slow = false
            await waiting.promise
          }
          return { id: 'ada', email: 'ada@example.com', givenPlan: 'free', subscribed: null }
        },
      }),
    })
    const ask = () => late.send('GET', LOCATE, { headers: { authorization: 'Bearer x' } })
    const first = ask()
    now += 60_000
    assert.deepEqual(await statuses(11, ask), [...many(200, 10), 429])
    waiting.resolve()
    assert.equal((await first).status, 429)
    assert.equal((await ask()).status, 429)
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

  it('tell the limit of a session, too, where a body is read', async () => {
    const headers = { authorization: `Bearer ${await signUp(app)}` }
    const body = { name: 'https://shop.example' }
    const answer = await app.send('POST', '/v1/account/me/sites', { headers, body })
    assert.equal(limitOf(answer), '"per-caller";q=120;w=60 "per-caller";r=119;t=1')
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
    const elsewhere = freshClient()
    const together = await Promise.all(
      Array.from({ length: 50 }, () => watched.send('GET', LOCATE, { headers, from: elsewhere })),
    )
    assert.equal(together.filter(({ status }) => status === 401).length, 30)
    assert.equal(asked, 60)
  })

  it('do not count for sessions that are good', async () => {
    const token = await signUp(app, 'kim@example.com')
    app.services.db.$client.exec("UPDATE users SET plan = 'fast'")
    const from = freshClient()
    const headers = { authorization: `Bearer ${token}` }
    const ask = () => app.send('GET', LOCATE, { headers, from })
    assert.deepEqual(await statuses(40, ask), many(200, 40))
  })
})
