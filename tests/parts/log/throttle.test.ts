import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { throttle } from '../../../lib/parts/log/throttle.ts'

describe('throttle', () => {
  it('reports the first call at once and the others once a minute', () => {
    const reported: number[] = []
    let now = 0
    const happen = throttle(
      (count) => reported.push(count),
      () => now,
    )
    happen()
    for (now = 1; now < 60_000; now += 10_000) happen()
    assert.deepEqual(reported, [1])
    now = 60_000
    happen()
    assert.deepEqual(reported, [1, 7])
  })
})
