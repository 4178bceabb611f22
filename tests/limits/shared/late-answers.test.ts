import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  newSharedBucket,
  payDebt,
  takeFromOwnShare,
  takeShared,
  toAsk,
} from '../../../lib/limits/buckets/shared-bucket.ts'
import type { Rate } from '../../../lib/limits/buckets/token-bucket.ts'
import { ModelStore } from './model-store.ts'
import { openNode } from './nodes.ts'

const MINUTE_MS = 60_000
const NODES = 2
const RATE: Rate = { capacity: 60, windowMs: MINUTE_MS }

describe('a bucket whose store answers late', () => {
  it('charges what it has answered once', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const { promise: late, resolve: answer } = Promise.withResolvers<void>()
    const store = new ModelStore(NODES)
    const debts: number[] = []
    const charge = store.charge.bind(store)
    store.charge = async (asks) => {
      debts.push(...asks.map(({ debt }) => debt))
      const grants = await charge(asks)
      await late
      return grants
    }
    const { keeper, bucket } = openNode(store)
    assert.equal(keeper.take(bucket, RATE, 0, 1)?.allowed, true)
    const asked = keeper.ask(bucket, RATE, 0)
    await nextTurn()
    t.mock.timers.tick(1_000)
    await asked
    answer()
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    await keeper.ask(bucket, RATE, 0)
    assert.deepEqual(debts, [1, 0])
  })

  it('has not refilled what the store has charged late', () => {
    const now = 5 * MINUTE_MS
    const bucket = newSharedBucket('ada', 0)
    const takeAll = () => {
      let count = 0
      while (takeFromOwnShare(bucket, RATE, { now, requests: 1, nodes: NODES }).allowed) count += 1
      return count
    }
    assert.equal(takeAll(), 30)
    takeShared(bucket, RATE, now, 1)
    payDebt(bucket, toAsk(bucket, RATE, now, 1), now)
    assert.equal(takeAll(), 15)
  })
})
