import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import { Worker } from 'node:worker_threads'
import fc from 'fast-check'
import { createThreadBuckets } from '../../../lib/limits/buckets/thread-buckets.ts'
import {
  createRowPool,
  rowOf,
  ThreadBucket,
  ThreadRows,
} from '../../../lib/limits/buckets/thread-rows.ts'
import { peek, refund, take } from '../../../lib/limits/buckets/token-bucket.ts'
import { createCounter } from '../../../lib/limits/counter.ts'

const THREADS = 4
const TIMES = 50_000

describe('threads that take from one bucket and count in one row', () => {
  it('are allowed exactly what one thread would be', async () => {
    const pool = createRowPool(ThreadRows.make(16))
    const bucketRow = rowOf(createThreadBuckets(pool).adopt({ spent: 0, at: 0 }))
    const counter = createCounter(pool, 7)
    // Most, but not all attempts succeed.
    const capacity = THREADS * TIMES * 0.8
    counter.openToThreads(capacity)
    const { memory } = pool.rows
    const data = { memory, bucketRow, counterRow: counter.row, times: TIMES, capacity }
    const results = await Promise.all(
      Array.from({ length: THREADS }, async () => {
        const worker = new Worker(new URL('take-thread.ts', import.meta.url), {
          workerData: data,
          execArgv: [],
        })
        const [result] = await once(worker, 'message')
        await worker.terminate()
        return result
      }),
    )
    const sum = (name: 'taken' | 'counted') =>
      results.reduce((total, result) => total + result[name], 0)
    assert.equal(sum('taken'), capacity)
    assert.equal(sum('counted'), capacity - 7)
    assert.equal(counter.requests, capacity)
  })
})

interface Step {
  readonly does: 'take' | 'peek' | 'refund'
  /** Milliseconds since the step before. */
  readonly passed: number
  readonly requests: number
  readonly capacity: number
}

/** Does the same with a bucket of all threads and with one of this thread alone. */
function followBoth(steps: readonly Step[]): void {
  const buckets = createThreadBuckets(createRowPool(ThreadRows.make(2)))
  const common = buckets.adopt({ spent: 0, at: 0 })
  assert.ok(common instanceof ThreadBucket)
  const own = { spent: 0, at: 0 }
  let now = 0
  for (const { does, passed, requests, capacity } of steps) {
    now += passed
    const rate = { capacity, windowMs: 60_000 }
    const both: Record<Step['does'], () => unknown[]> = {
      take: () => [buckets.take(common, rate, now, requests), take(own, rate, now, requests)],
      peek: () => [buckets.peek(common, rate, now, requests), peek(own, rate, now, requests)],
      refund: () => [buckets.refund(common, now, requests), refund(own, requests)],
    }
    const [ours, expected] = both[does]()
    assert.deepEqual(ours, expected)
    assert.deepEqual([common.spent, common.at], [own.spent, own.at])
  }
}

describe('a bucket of several threads', () => {
  it('does what a bucket of one thread does', () => {
    const step = fc.record({
      does: fc.constantFrom('take', 'peek', 'refund'),
      passed: fc.integer({ min: -10, max: 30 }).map((seconds) => seconds * 1_000),
      requests: fc.integer({ min: 1, max: 12 }),
      capacity: fc.integer({ min: 1, max: 20 }),
    })
    fc.assert(fc.property(fc.array(step, { maxLength: 40 }), followBoth))
  })

  it('does not refill twice for threads that read the clock at almost the same time', () => {
    const buckets = createThreadBuckets(createRowPool(ThreadRows.make(2)))
    const common = buckets.adopt({ spent: 0, at: 0 })
    const rate = { capacity: 60, windowMs: 60_000 }
    for (let time = 0; time < 50; time++) {
      buckets.take(common, rate, 1_000, 1)
      buckets.take(common, rate, 999, 1)
    }
    assert.deepEqual([common.spent, common.at], [60, 1_000])
  })
})

describe('the rows of a pool', () => {
  it('are used again only after all threads must know that they are free', () => {
    const pool = createRowPool(ThreadRows.make(2))
    const [first, second] = [pool.take(), pool.take()]
    assert.deepEqual([first, second, pool.take()], [0, 1, undefined])
    const { epoch } = pool.rows
    pool.release([1])
    assert.notEqual(pool.rows.epoch, epoch)
    assert.equal(pool.take(), undefined)
    pool.release([])
    assert.equal(pool.take(), 1)
  })

  it('are not needed: without one, a bucket and a counter belong to one thread', () => {
    const pool = createRowPool(ThreadRows.make(0))
    const bucket = { spent: 3, at: 5 }
    assert.equal(createThreadBuckets(pool).adopt(bucket), bucket)
    const counter = createCounter(pool, 4)
    counter.add(2)
    assert.deepEqual([counter.requests, counter.row], [6, undefined])
  })
})
