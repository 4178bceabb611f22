import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createRateLimiter } from '../../lib/limits/rate-limiter.ts'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import { NOON } from '../support/helpers.ts'

const POLICY = { name: 'test', capacity: 5, windowMs: 15 * MINUTE_MS }

/** Each id takes `requests`, one id after the other, within a minute. */
function flood(limiter: ReturnType<typeof createRateLimiter>, ids: number, requests: number) {
  for (let id = 0; id < ids; id++) {
    const now = NOON + Math.floor((id * MINUTE_MS) / ids)
    for (let n = 0; n < requests; n++) limiter.take(`other ${id}`, now)
  }
}

describe('A rate limiter', () => {
  it('limits the empty id like any other', () => {
    const limiter = createRateLimiter(POLICY)
    for (let n = 0; n < 5; n++) {
      assert.ok(limiter.take('', NOON).allowed)
      limiter.take(`other ${n}`, NOON)
    }
    assert.ok(!limiter.take('', NOON).allowed)
  })
})

describe('A rate limiter that sees very many ids', () => {
  it('forgets none that has spent more than most', () => {
    for (const requests of [1, 4]) {
      const limiter = createRateLimiter(POLICY)
      for (let n = 0; n < 5; n++) assert.ok(limiter.take('guesser', NOON).allowed)
      flood(limiter, 160_000, requests)
      assert.ok(!limiter.take('guesser', NOON + MINUTE_MS).allowed)
    }
  })

  it('forgets none whose neighbours have spent as much', () => {
    const limiter = createRateLimiter(POLICY)
    const spendAll = (id: string) => {
      for (let n = 0; n < 5; n++) assert.ok(limiter.take(id, NOON).allowed)
    }
    for (let n = 0; n < 40; n++) spendAll(n === 20 ? 'guesser' : `neighbour ${n}`)
    flood(limiter, 160_000, 1)
    assert.ok(!limiter.take('guesser', NOON + MINUTE_MS).allowed)
  })

  it('forgets those that have spent least, so that its memory is bounded', () => {
    const limiter = createRateLimiter(POLICY)
    limiter.take('quiet', NOON)
    // Each of 200,000 ids takes the place of one of 8 out of 100,000: one in ten million times, it is never this one.
    flood(limiter, 300_000, 2)
    assert.equal(limiter.take('quiet', NOON).remaining, 4)
  })
})
