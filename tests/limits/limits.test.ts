import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mintKey } from '../../lib/access/api-key.ts'
import { removeKeys } from '../../lib/access/keys.ts'
import { AUTH_REQUESTS } from '../../lib/contract/account/auth.ts'
import { write } from '../support/database/sql.ts'
import { codeOf, makeApp } from '../support/helpers.ts'
import { plansFile } from '../support/plans-file.ts'
import { freshScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'
import { sendAuth, signUp } from '../support/sign-in.ts'
import { limitOf, many, statuses } from './answers.ts'

const LOCATE = '/v1/ip/81.2.69.160'

const app = freshScene({ env: { MERIDIAN_PLANS: plansFile() } })
const ada = app.user('ada')
const eve = app.user('eve')

describe('the rate limit of a plan', () => {
  it('allows a free key 10 requests, then answers 429 until Retry-After has passed', async () => {
    await ada.key({ plan: 'free' })
    const ask = () => ada.lookUp()
    const first = await ask()
    assert.equal(limitOf(first), '"per-key";q=10;w=60 "per-key";r=9;t=6')
    assert.deepEqual(await statuses(9, ask), many(200, 9))
    app.pass(2_500)
    const refused = await ask()
    assert.equal(codeOf(refused), 'RATE_LIMITED')
    assert.equal(limitOf(refused), '"per-key";q=10;w=60 "per-key";r=0;t=4')
    assert.equal(refused.headers.get('retry-after'), '4')
    app.pass(4_000)
    assert.equal((await ask()).status, 200)
    assert.equal((await ask()).status, 429)
  })

  it('applies to each key separately, and to all sessions of a user together', async () => {
    const lee = { email: 'lee@example.com', plan: 'free' }
    const [one, other] = [await app.makeKey(lee), await app.makeKey(lee)]
    const token = await signUp(app, 'kim@example.com')
    const login = { email: 'kim@example.com', password: 'no' }
    await sendAuth(app, '/sign-in/email', login)
    const ofOne = await statuses(11, () => app.send('GET', LOCATE, { key: one }))
    assert.deepEqual(ofOne, [...many(200, 10), 429])
    assert.equal((await app.send('GET', LOCATE, { key: other })).status, 200)
    const headers = { authorization: `Bearer ${token}` }
    const session = await app.send('GET', LOCATE, { headers })
    assert.equal(limitOf(session), '"per-user";q=10;w=60 "per-user";r=9;t=6')
  })

  it('follows a change of plan on the next request', async () => {
    await ada.key({ plan: 'free' })
    await statuses(10, () => ada.lookUp())
    assert.equal((await ada.lookUp()).status, 429)
    await write(app, "UPDATE users SET plan = 'pro'")
    await app.services.keys.change([removeKeys(app.services.db, 'nobody')])
    const answer = await ada.lookUp()
    assert.equal(limitOf(answer), '"per-key";q=600;w=60 "per-key";r=589;t=1')
  })

  it('counts bad requests, and is reported with their errors', async () => {
    await ada.key({ plan: 'free' })
    const answer = await ada.lookUp('foo')
    assert.equal(answer.status, 400)
    assert.match(limitOf(answer), /r=9/)
  })

  it('survives a restart', async () => {
    const key = await ada.key({ plan: 'free' })
    await statuses(10, () => ada.lookUp())
    await using again = await app.restart()
    app.pass(5_999)
    assert.equal((await again.send('GET', LOCATE, { key })).status, 429)
    app.pass(1)
    assert.equal((await again.send('GET', LOCATE, { key })).status, 200)
  })
})

describe('a session that takes long to check', () => {
  it('is charged when it is accepted, and does not reset the bucket', async () => {
    const waiting = Promise.withResolvers<void>()
    let slow = true
    await using late = await makeApp({
      now: () => app.services.now(),
      replace: () => ({
        findSession: async () => {
          if (slow) {
            slow = false
            await waiting.promise
          }
          const user = { id: 'ada', email: 'ada@example.com', assignedPlan: 'free' }
          return {
            ...user,
            subscribed: null,
            overagePrice: null,
            spendingCap: null,
            usageMails: null,
          }
        },
      }),
    })
    const ask = () => late.send('GET', LOCATE, { headers: { authorization: 'Bearer x' } })
    const first = ask()
    app.pass(60_000)
    assert.deepEqual(await statuses(11, ask), [...many(200, 10), 429])
    waiting.resolve()
    assert.equal((await first).status, 429)
    assert.equal((await ask()).status, 429)
  })
})

describe('operations of account and billing', () => {
  it('answer 120 requests of a user in a minute, whatever keys the user has', async () => {
    const key = await app.makeKey({ email: 'max@example.com', plan: 'free' })
    const other = await app.makeKey({ email: 'max@example.com', plan: 'free' })
    await eve.key({ plan: 'free' })
    const ask = () => app.send('GET', '/v1/account/me/keys', { key })
    assert.equal(limitOf(await ask()), '"per-user";q=120;w=60 "per-user";r=119;t=1')
    await statuses(119, ask)
    assert.equal((await ask()).status, 429)
    assert.equal((await app.send('GET', '/v1/account/me', { key: other })).status, 429)
    assert.equal((await eve.send('GET', '/v1/account/me')).status, 200)
    assert.equal((await app.send('GET', LOCATE, { key })).status, 200)
  })

  it('report the limit of a session even if a body is read', async () => {
    const { headers } = await ada.signUp()
    const body = { name: 'https://shop.example' }
    const answer = await app.send('POST', '/v1/account/me/sites', { headers, body })
    assert.equal(limitOf(answer), '"per-user";q=120;w=60 "per-user";r=119;t=1')
  })
})

describe('an operation without a credential', () => {
  it('is answered 60 times a minute per address', async () => {
    const from = freshClient()
    const ask = () => app.send('GET', '/v1/billing/plans', { from })
    assert.equal(limitOf(await ask()), '"per-address";q=60;w=60 "per-address";r=59;t=1')
    assert.deepEqual(await statuses(60, ask), [...many(200, 59), 429])
    assert.equal((await app.send('GET', '/v1', { from })).status, 429)
    assert.equal((await app.send('GET', '/v1')).status, 200)
  })

  it('is limited per /64 of an IPv6 address', async () => {
    const from = (host: string) => ({ from: `2001:db8:1:2:${host}` })
    const ask = (n: number) => app.send('GET', '/v1', from(`${n}::1`))
    assert.deepEqual(await statuses(61, ask), [...many(200, 60), 429])
    assert.equal((await app.send('GET', '/v1', { from: '2001:db8:1:3::1' })).status, 200)
  })

  it('has no limit if it is the health check', async () => {
    const from = freshClient()
    const ask = () => app.send('GET', '/health', { from })
    assert.deepEqual(await statuses(70, ask), many(200, 70))
  })

  it('has the same limit and the same answer if it is for sign-in', async () => {
    const from = freshClient()
    for (let n = 0; n < 60; n++) await app.send('GET', '/v1', { from })
    for (const { method, path } of AUTH_REQUESTS) {
      const refused = await sendAuth(app, path, undefined, { from, method })
      assert.equal(refused.status, 429, path)
      assert.equal(codeOf(refused), 'RATE_LIMITED')
      assert.equal(refused.headers.get('retry-after'), '1')
    }
  })
})

describe('bad credentials', () => {
  it('are refused 30 times a minute with 401, then with 429', async () => {
    const from = freshClient()
    const ask = () => app.send('GET', LOCATE, { key: mintKey('secret').text, from })
    const first = await ask()
    assert.match(limitOf(first), /^"failed-credentials";q=30;w=60 "failed-credentials";r=29/)
    assert.deepEqual(await statuses(30, ask), [...many(401, 29), 429])
    await ada.key()
    assert.equal((await ada.lookUp('81.2.69.160', { from })).status, 200)
    assert.equal((await app.send('GET', LOCATE, { from })).status, 401)
  })

  it('are refused with 429 after that if they are session tokens, but a good session is admitted', async () => {
    const from = freshClient()
    const token = await signUp(app, 'lou@example.com')
    const ask = (text: string) =>
      app.send('GET', LOCATE, { headers: { authorization: `Bearer ${text}` }, from })
    const bad = () => ask('nonsense')
    assert.deepEqual(await statuses(35, bad), [...many(401, 30), ...many(429, 5)])
    const good = await ask(token)
    assert.equal(good.status, 200)
    assert.equal((await bad()).status, 429)
  })

  it('are looked up eight at a time if they are session tokens; one known to be good need not wait', async () => {
    const answering = Promise.withResolvers<void>()
    let [running, most] = [0, 0]
    await using watched = await makeApp({
      replace: ({ findSession }) => ({
        findSession: async (token, at) => {
          if (token !== 'nonsense') return findSession(token, at)
          running += 1
          most = Math.max(most, running)
          await answering.promise
          running -= 1
          return null
        },
      }),
    })
    const token = await signUp(watched)
    const from = freshClient()
    const ask = (text: string) =>
      watched.send('GET', LOCATE, { headers: { authorization: `Bearer ${text}` }, from })
    assert.equal((await ask(token)).status, 200)
    const flood = Array.from({ length: 600 }, () => ask('nonsense'))
    assert.equal((await ask(token)).status, 200)
    answering.resolve()
    const answers = await Promise.all(flood)
    assert.equal(most, 8)
    assert.equal(answers.filter(({ status }) => status === 401).length, 30)
    assert.equal(answers.filter(({ status }) => status === 429).length, 570)
  })

  it('do not include valid sessions', async () => {
    const { headers } = await app.user('kim').signUp()
    await write(app, "UPDATE users SET plan = 'fast'")
    const from = freshClient()
    const ask = () => app.send('GET', LOCATE, { headers, from })
    assert.deepEqual(await statuses(40, ask), many(200, 40))
  })
})
