import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { makeApp, NOON, type TestApp } from '../support/helpers.ts'
import { limitOf, many, statuses } from './answers.ts'

const LOCATE = '/v1/ip/81.2.69.160'

describe('the rate limit of all keys of a user', () => {
  const free = (email: string) => ({ email, plan: 'free' })
  /** The free plan has two keys with ten requests a minute. */
  let app: TestApp
  let now: number
  beforeEach(async () => {
    now = NOON
    app = await makeApp({ now: () => now })
  })
  afterEach(() => app.close())

  it('allows the requests of as many keys as the plan has, even if keys are replaced', async () => {
    const user = free('churn@example.com')
    const allowed = []
    for (let n = 0; n < 4; n++) {
      const key = await app.makeKey(user)
      allowed.push(...(await statuses(10, () => app.send('GET', LOCATE, { key }))))
    }
    assert.deepEqual(allowed, [...many(200, 20), ...many(429, 20)])
    const key = await app.makeKey(user)
    const refused = await app.send('GET', LOCATE, { key })
    assert.equal(limitOf(refused), '"all-keys";q=20;w=60 "all-keys";r=0;t=3')
    assert.equal(refused.headers.get('retry-after'), '3')
  })

  it('is reported if it leaves fewer requests than the limit of the key', async () => {
    const user = free('fewer@example.com')
    for (let n = 0; n < 2; n++) {
      const key = await app.makeKey(user)
      await statuses(6 + n, () => app.send('GET', LOCATE, { key }))
    }
    const key = await app.makeKey(user)
    const answer = await app.send('GET', LOCATE, { key })
    assert.equal(limitOf(answer), '"all-keys";q=20;w=60 "all-keys";r=6;t=3')
  })

  it('refuses a batch that neither limit has room for, until both have', async () => {
    const user = free('batch@example.com')
    const [one = '', other = ''] = [await app.makeKey(user), await app.makeKey(user)]
    await statuses(10, () => app.send('GET', LOCATE, { key: one }))
    await statuses(5, () => app.send('GET', LOCATE, { key: other }))
    const body = { ips: Array(800).fill('81.2.69.160') }
    const ask = () => app.send('POST', '/v1/ip/batch', { key: other, body })
    const refused = await ask()
    assert.equal(limitOf(refused), '"per-key";q=10;w=60 "per-key";r=5;t=18')
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '18'])
    now += 18_000
    assert.deepEqual(await statuses(2, ask), [200, 429])
  })

  it('is not charged for requests that the limit of the key refuses', async () => {
    const user = free('refused@example.com')
    const [one, other] = [await app.makeKey(user), await app.makeKey(user)]
    await statuses(30, () => app.send('GET', LOCATE, { key: one }))
    assert.deepEqual(await statuses(11, () => app.send('GET', LOCATE, { key: other })), [
      ...many(200, 10),
      429,
    ])
  })

  it('survives a restart', async () => {
    const user = free('again@example.com')
    for (let n = 0; n < 2; n++) {
      const key = await app.makeKey(user)
      await statuses(10, () => app.send('GET', LOCATE, { key }))
    }
    await using again = await app.restart()
    const key = await again.makeKey(user)
    assert.equal((await again.send('GET', LOCATE, { key })).status, 429)
  })
})
