import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createQueue } from '../../lib/parts/task-queue.ts'
import { mapInSlices, runInSlices } from '../../lib/parts/time-slices.ts'
import { countTurns } from '../support/count-turns.ts'

describe('a queue', () => {
  it('runs at most so many at once, in order, and goes on after a failure', async () => {
    const queue = createQueue({ atOnce: 2, mayWait: 10 })
    const began: number[] = []
    let running = 0
    let most = 0
    const work = (n: number) => async () => {
      began.push(n)
      running += 1
      most = Math.max(most, running)
      await nextTurn()
      running -= 1
      if (n % 3 === 0) throw new Error(String(n))
      return n
    }
    const numbers = Array.from({ length: 9 }, (_, n) => n)
    const ends = await Promise.allSettled(numbers.map((n) => queue.run(work(n))))
    assert.equal(most, 2)
    assert.deepEqual(began, numbers)
    const outcomes = ends.map((end) => (end.status === 'fulfilled' ? end.value : 'failed'))
    assert.deepEqual(outcomes, ['failed', 1, 2, 'failed', 4, 5, 'failed', 7, 8])
    assert.equal(queue.isIdle(), true)
    assert.equal(await queue.run(work(10)), 10)
  })

  it('refuses work if too much waits', async () => {
    const queue = createQueue({ atOnce: 1, mayWait: 2 })
    const { promise, resolve } = Promise.withResolvers<string>()
    const accepted = [1, 2, 3].map(() => queue.run(() => promise))
    assert.equal(await queue.run(() => promise), null)
    resolve('done')
    assert.deepEqual(await Promise.all(accepted), ['done', 'done', 'done'])
  })

  it('frees the places of a client that has left', async () => {
    const queue = createQueue({ atOnce: 1, mayWait: 2 })
    const { promise, resolve } = Promise.withResolvers<string>()
    const leaving = new AbortController()
    const client = { id: 'a', isKnown: false, signal: leaving.signal }
    const running = queue.run(() => promise, client)
    const gone = [1, 2].map(() => queue.run(() => assert.fail('runs'), client))
    leaving.abort()
    assert.deepEqual(await Promise.all(gone), [null, null])
    assert.equal(await queue.run(() => assert.fail('runs'), client), null)
    const others = [1, 2].map(() => queue.run(() => promise))
    resolve('done')
    assert.deepEqual(await Promise.all([running, ...others]), ['done', 'done', 'done'])
  })

  it('lets one client wait in few places, and keeps some for clients that are known', async () => {
    const queue = createQueue({ atOnce: 1, mayWait: 3, mayWaitEach: 2, reserve: 1 })
    const { promise, resolve } = Promise.withResolvers<string>()
    const { signal } = new AbortController()
    const wait = (id: string, isKnown: boolean) => queue.run(() => promise, { id, isKnown, signal })
    const accepted = [wait('a', false), wait('a', false), wait('a', false)]
    assert.equal(await wait('a', false), null)
    accepted.push(wait('b', false))
    assert.equal(await wait('c', false), null)
    accepted.push(wait('d', true))
    assert.equal(await wait('e', true), null)
    resolve('done')
    assert.deepEqual(new Set(await Promise.all(accepted)), new Set(['done']))
  })
})

describe('mapInSlices', () => {
  it('maps all values in order', async () => {
    const values = Array.from({ length: 1_000 }, (_, n) => n)
    const expected = values.map((value) => value * 3)
    assert.deepEqual(await mapInSlices(values, (value, at) => value * 2 + at), expected)
    assert.deepEqual(await mapInSlices([], () => 1), [])
  })

  it('lets other work run in between', async () => {
    using turns = countTurns()
    const spin = () => {
      const end = performance.now() + 0.2
      while (performance.now() < end);
    }
    await mapInSlices([...Array(100).keys()], spin)
    assert.ok(turns.count() >= 4, `${turns.count()} turns`)
  })
})

describe('runInSlices', () => {
  it('lets other work run between steps', async () => {
    using turns = countTurns()
    function* work(): Generator<void, string> {
      for (let n = 0; n < 50; n++) {
        const end = performance.now() + 0.5
        while (performance.now() < end);
        yield
      }
      return 'done'
    }
    assert.equal(await runInSlices(work()), 'done')
    assert.ok(turns.count() > 10, String(turns.count()))
  })
})
