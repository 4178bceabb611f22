import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { nextAttempt } from '../../lib/contact/backoff.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'

const LIMIT_MS = 5 * 24 * HOUR_MS

describe('nextAttempt', () => {
  it('doubles the pause up to four hours', () => {
    const pauses = [1, 2, 3, 9, 10, 11, 1_000].map((attempts) =>
      nextAttempt({ attempts, queuedAt: 0 }, 0, 0),
    )
    const minutes = pauses.map((pause) => (pause ?? 0) / 60_000)
    assert.deepEqual(minutes, [0.5, 1, 2, 128, 240, 240, 240])
  })

  it('shortens the pause randomly by up to half', () => {
    const Random = fc.double({ min: 0, max: 1, noNaN: true })
    const check = (attempts: number, random: number) => {
      const full = nextAttempt({ attempts, queuedAt: 0 }, 0, 0) ?? 0
      const pause = nextAttempt({ attempts, queuedAt: 0 }, 0, random) ?? 0
      assert.ok(pause >= full / 2 && pause <= full)
    }
    fc.assert(fc.property(fc.integer({ min: 1, max: 100 }), Random, check))
  })

  it('is null five days after the inquiry was queued', () => {
    const queuedAt = 1_000
    const at = (now: number) => nextAttempt({ attempts: 40, queuedAt }, now, 0.5)
    assert.notEqual(at(queuedAt + LIMIT_MS - 1), null)
    assert.equal(at(queuedAt + LIMIT_MS), null)
  })
})
