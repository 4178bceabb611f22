import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { inTime } from '../../lib/parts/in-time.ts'

const never = new Promise<never>(() => {})

describe('inTime', () => {
  test('resolves or rejects as the work does', async () => {
    assert.equal(await inTime(Promise.resolve('done'), 60_000, assert.fail), 'done')
    const failing = Promise.reject(new Error('broken'))
    await assert.rejects(inTime(failing, 60_000, assert.fail), /broken/)
  })

  test('returns or throws what `late` does once the time is over', async () => {
    assert.equal(await inTime(never, 1, () => 'late'), 'late')
    const refuse = () => {
      throw new Error('too late')
    }
    await assert.rejects(inTime(never, 1, refuse), /too late/)
  })

  test('ignores work that fails later', async () => {
    const failing = sleep(5).then(() => {
      throw new Error('nobody hears this')
    })
    assert.equal(await inTime(failing, 1, () => 'late'), 'late')
    // An unhandled rejection would fail this test.
    await sleep(20)
  })
})
