import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { withTimeout } from '../../lib/parts/with-timeout.ts'

const never = new Promise<never>(() => {})

describe('withTimeout', () => {
  test('resolves or rejects as the work does', async () => {
    assert.equal(await withTimeout(Promise.resolve('done'), 60_000, assert.fail), 'done')
    const failing = Promise.reject(new Error('broken'))
    await assert.rejects(withTimeout(failing, 60_000, assert.fail), /broken/)
  })

  test('returns or throws what `late` does once the time is over', async () => {
    assert.equal(await withTimeout(never, 1, () => 'late'), 'late')
    const refuse = () => {
      throw new Error('too late')
    }
    await assert.rejects(withTimeout(never, 1, refuse), /too late/)
  })

  test('ignores work that fails later', async () => {
    const failing = sleep(5).then(() => {
      throw new Error('nobody hears this')
    })
    assert.equal(await withTimeout(failing, 1, () => 'late'), 'late')
    // An unhandled rejection would fail this test.
    await sleep(20)
  })
})
