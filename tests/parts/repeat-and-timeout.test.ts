import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { repeat } from '../../lib/parts/repeat.ts'
import { withTimeout } from '../../lib/parts/with-timeout.ts'

/** Runs the pending promise callbacks. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

/** Lets the time pass. */
async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms)
  await settle()
}

const noError = (error: unknown) => assert.fail(String(error))

describe('repeat', () => {
  beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }))
  afterEach(() => mock.timers.reset())

  it('repeats its work until it is disposed of', async () => {
    let runs = 0
    const periodic = repeat(100, () => void runs++, noError)
    assert.equal(runs, 0)
    for (let n = 1; n <= 3; n++) {
      await pass(99)
      assert.equal(runs, n - 1)
      await pass(1)
      assert.equal(runs, n)
    }
    periodic[Symbol.dispose]()
    await pass(1_000)
    assert.equal(runs, 3)
  })

  it('never overlaps itself', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    let runs = 0
    const work = () => {
      runs++
      return promise
    }
    const periodic = repeat(100, work, noError)
    await pass(100)
    await pass(1_000)
    assert.equal(runs, 1)
    resolve()
    await settle()
    await pass(100)
    assert.equal(runs, 2)
    periodic[Symbol.dispose]()
  })

  it('continues after an error, and reports the first of several, and the first success', async () => {
    const errors: unknown[] = []
    let runs = 0
    const work = [() => Promise.reject(new Error('a')), () => assert.fail('b'), () => {}]
    const next = () => work[runs++]?.()
    const periodic = repeat(100, next, (error) => errors.push(error))
    for (let n = 0; n < 3; n++) await pass(100)
    assert.equal(runs, 3)
    const messages = errors.map((error) => (error instanceof Error ? error.message : error))
    assert.deepEqual(messages, ['a', 'it had failed 2 times'])
    periodic[Symbol.dispose]()
  })

  it('reports no error of work that disposal interrupts', async () => {
    const { promise, reject } = Promise.withResolvers<void>()
    const periodic = repeat(100, () => promise, noError)
    mock.timers.tick(100)
    periodic[Symbol.dispose]()
    reject(new Error('closed'))
    await settle()
  })

  it('can be disposed of by its own work', async () => {
    let runs = 0
    const work = () => {
      runs++
      periodic[Symbol.dispose]()
    }
    const periodic = repeat(100, work, noError)
    await pass(100)
    await pass(500)
    assert.equal(runs, 1)
  })
})

const never = new Promise<never>(() => {})

describe('withTimeout', () => {
  it('resolves or rejects as the work does', async () => {
    assert.equal(await withTimeout(Promise.resolve('done'), 60_000, assert.fail), 'done')
    const failing = Promise.reject(new Error('broken'))
    await assert.rejects(withTimeout(failing, 60_000, assert.fail), /broken/)
  })

  it('returns or throws what `late` does once the time is over', async () => {
    assert.equal(await withTimeout(never, 1, () => 'late'), 'late')
    const refuse = () => {
      throw new Error('too late')
    }
    await assert.rejects(withTimeout(never, 1, refuse), /too late/)
  })

  it('ignores work that fails later', async () => {
    const failing = sleep(5).then(() => {
      throw new Error('nobody hears this')
    })
    assert.equal(await withTimeout(failing, 1, () => 'late'), 'late')
    // An unhandled rejection would fail this test.
    await sleep(20)
  })
})
