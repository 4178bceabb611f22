import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { tellSometimes } from '../../lib/tell-sometimes.ts'

describe('tellSometimes', () => {
  it('tells of the first at once, and of the rest once a minute', () => {
    const told: number[] = []
    let now = 0
    const happen = tellSometimes(
      (count) => told.push(count),
      () => now,
    )
    happen()
    for (now = 1; now < 60_000; now += 10_000) happen()
    assert.deepEqual(told, [1])
    now = 60_000
    happen()
    assert.deepEqual(told, [1, 7])
  })
})
