import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Bucket, peek, spentAt, take } from '../../lib/limits/buckets/token-bucket.ts'
import { NOON } from '../support/helpers.ts'

const FREE = { capacity: 10, windowMs: 60_000 }

const full = (): Bucket => ({ spent: 0, at: NOON })

function takeMany(bucket: Bucket, times: number, now = NOON) {
  return Array.from({ length: times }, () => take(bucket, FREE, now))
}

/** The times of the allowed requests, if one is sent after each of these pauses. */
function allowedTimes(capacity: number, pauses: readonly number[]): number[] {
  const bucket = full()
  let now = NOON
  const times = pauses.map((pause) => {
    now += pause
    return take(bucket, { capacity, windowMs: 60_000 }, now).allowed ? now : null
  })
  return times.filter((time) => time !== null)
}

describe('a token bucket', () => {
  it('allows its capacity at once, then nothing', () => {
    const standings = takeMany(full(), 12)
    const allowed = standings.map((standing) => standing.allowed)
    assert.deepEqual(allowed, [...Array(10).fill(true), false, false])
    const remaining = standings.map((standing) => standing.remaining)
    assert.deepEqual(remaining, [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0])
  })

  it('is refilled evenly', () => {
    const bucket = full()
    takeMany(bucket, 10)
    assert.equal(take(bucket, FREE, NOON + 5_999).allowed, false)
    assert.equal(take(bucket, FREE, NOON + 6_000).allowed, true)
    assert.equal(take(bucket, FREE, NOON + 6_000).allowed, false)
    assert.equal(peek(bucket, FREE, NOON + 66_000).remaining, 10)
  })

  it('reports after how many seconds one more request is allowed', () => {
    const pauses = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 50 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), pauses, (capacity, all) => {
        const rate = { capacity, windowMs: 60_000 }
        const bucket = full()
        let now = NOON
        for (const pause of all) {
          now += pause
          const { remaining, resetSeconds } = take(bucket, rate, now)
          const later = peek(bucket, rate, now + resetSeconds * 1_000)
          assert.ok(later.remaining > remaining || resetSeconds === 0)
          if (remaining === 0) assert.ok(resetSeconds >= 1 && later.allowed)
        }
      }),
    )
  })

  it('never allows more than its capacity plus the refill, in any period', () => {
    const pause = fc.integer({ min: 0, max: 8_000 })
    const pauses = fc.array(pause, { minLength: 1, maxLength: 200 })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), pauses, (capacity, all) => {
        const times = allowedTimes(capacity, all)
        for (const [first, start] of times.entries()) {
          for (const [more, end] of times.slice(first).entries()) {
            assert.ok(more + 1 <= capacity + ((end - start) * capacity) / 60_000 + 1e-6)
          }
        }
      }),
    )
  })

  it('refills nothing when the clock is set back, and refills from there', () => {
    const bucket = full()
    takeMany(bucket, 10)
    assert.equal(take(bucket, FREE, NOON - 3_600_000).allowed, false)
    assert.equal(take(bucket, FREE, NOON - 3_600_000 + 6_000).allowed, true)
  })

  it('is refilled to its capacity at most if the clock leaps forward', () => {
    const bucket = full()
    takeMany(bucket, 10)
    assert.equal(spentAt(bucket, FREE, NOON + 10 ** 12), 0)
    assert.equal(peek(bucket, FREE, NOON + 10 ** 12).remaining, 10)
  })

  it('allows more at once with a larger plan, and less with a smaller one', () => {
    const bucket = full()
    takeMany(bucket, 10)
    assert.equal(peek(bucket, { capacity: 600, windowMs: 60_000 }, NOON).remaining, 590)
    assert.equal(peek(bucket, { capacity: 5, windowMs: 60_000 }, NOON).remaining, 0)
    assert.equal(peek(bucket, { capacity: 5, windowMs: 60_000 }, NOON + 12_000).remaining, 1)
  })
})
