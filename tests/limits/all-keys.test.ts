import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { freshScene } from '../support/scene/scene.ts'
import { limitOf, many, statuses } from './answers.ts'

const app = freshScene()
const ada = app.user('ada')

describe('the rate limit of all keys of a user', () => {
  /** This plan has two keys with ten requests a minute. */
  const free = { plan: 'free' }
  /** Looks up so many times with Ada's newest key, or with another one. */
  const look = (times: number, options = {}) =>
    statuses(times, () => ada.lookUp('81.2.69.160', options))

  it('allows the requests of as many keys as the plan has, even if keys are replaced', async () => {
    const allowed = []
    for (let n = 0; n < 4; n++) {
      await ada.key(free)
      allowed.push(...(await look(10)))
    }
    assert.deepEqual(allowed, [...many(200, 20), ...many(429, 20)])
    await ada.key(free)
    const refused = await ada.lookUp()
    assert.equal(limitOf(refused), '"all-keys";q=20;w=60 "all-keys";r=0;t=3')
    assert.equal(refused.headers.get('retry-after'), '3')
  })

  it('is reported if it leaves fewer requests than the limit of the key', async () => {
    for (let n = 0; n < 2; n++) {
      await ada.key(free)
      await look(6 + n)
    }
    await ada.key(free)
    assert.equal(limitOf(await ada.lookUp()), '"all-keys";q=20;w=60 "all-keys";r=6;t=3')
  })

  it('refuses a batch that neither limit has room for, until both have', async () => {
    const one = await ada.key(free)
    await ada.key(free)
    await look(10, { key: one })
    await look(5)
    const ask = () => ada.send('POST', '/v1/ip/batch', { ips: Array(800).fill('81.2.69.160') })
    const refused = await ask()
    assert.equal(limitOf(refused), '"per-key";q=10;w=60 "per-key";r=5;t=18')
    assert.deepEqual([refused.status, refused.headers.get('retry-after')], [429, '18'])
    app.pass(18_000)
    assert.deepEqual(await statuses(2, ask), [200, 429])
  })

  it('is not charged for requests that the limit of the key refuses', async () => {
    const one = await ada.key(free)
    await ada.key(free)
    await look(30, { key: one })
    assert.deepEqual(await look(11), [...many(200, 10), 429])
  })

  it('survives a restart', async () => {
    for (let n = 0; n < 2; n++) {
      await ada.key(free)
      await look(10)
    }
    await app.restart()
    await ada.key(free)
    assert.deepEqual(await look(1), [429])
  })
})
