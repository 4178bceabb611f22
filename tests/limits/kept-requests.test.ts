import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Rate } from '../../lib/limits/buckets/token-bucket.ts'
import { ModelStore } from './shared/model-store.ts'
import {
  countAllowed,
  MINUTE_MS,
  NODES,
  type Node,
  open,
  openAll,
  TEN,
  take,
} from './shared/nodes.ts'

interface Pace {
  readonly pauseMs: number
  readonly rounds: number
}

/** Takes single requests from all nodes in turn, and lets them ask in the background. */
async function takeSteadily(nodes: readonly Node[], rate: Rate, { pauseMs, rounds }: Pace) {
  for (let round = 0; round < rounds; round++) {
    for (const node of nodes) {
      advance(node, pauseMs / nodes.length)
      await take(node, rate)
      for (let turn = 0; turn < 5; turn++) await nextTurn()
    }
  }
}

function advance({ store }: Node, ms: number): void {
  assert.ok(store instanceof ModelStore)
  store.time += ms
}

describe('requests that nodes keep', () => {
  const RATE: Rate = { capacity: 6_000, windowMs: MINUTE_MS }
  /** What refills in a second. */
  const SECOND = 100
  const IDLE_MS = 2 * MINUTE_MS

  it('are no more than the rest of a burst after a pause', async () => {
    const { store, nodes } = openAll()
    await countAllowed(nodes, RATE, 3_000)
    store.time += IDLE_MS
    const allowed = await countAllowed(nodes, RATE, 7_000)
    assert.ok(allowed <= RATE.capacity + NODES - 1, `${allowed} were allowed`)
  })

  it('are what refills in a second on all nodes together', async () => {
    const { store, nodes } = openAll()
    await takeSteadily(nodes, RATE, { pauseMs: 100, rounds: 300 })
    store.time += IDLE_MS
    const allowed = await countAllowed(nodes, RATE, 7_000)
    assert.ok(allowed <= RATE.capacity + NODES - 1 + SECOND, `${allowed} were allowed`)
    assert.ok(allowed > RATE.capacity + NODES - 1, 'nothing was kept')
  })

  it('are given back if the plan becomes smaller', async () => {
    const { store, nodes } = openAll()
    await takeSteadily(nodes, RATE, { pauseMs: 100, rounds: 300 })
    store.time += IDLE_MS
    const allowed = await countAllowed(nodes, TEN, 100)
    assert.ok(allowed <= 12, `${allowed} were allowed`)
  })

  it('do not come back with a refund', async () => {
    const { store, node } = open()
    await takeSteadily([node], RATE, { pauseMs: 2, rounds: 1_000 })
    store.time += IDLE_MS
    node.keeper.refund(node.bucket, store.time, 1)
    const allowed = await countAllowed([node], RATE, 7_000)
    assert.ok(allowed <= RATE.capacity + 1, `${allowed} were allowed`)
  })

  it('belong to a caller who is not idle', async () => {
    const { store, node } = open()
    await takeSteadily([node], RATE, { pauseMs: 5_000, rounds: 100 })
    assert.equal(node.keeper.usedAt(node.bucket), store.time)
  })

  it('let them ask seldom for a caller far from the limit', async () => {
    const { store, node } = open(NODES)
    await takeSteadily([node], RATE, { pauseMs: 500, rounds: 120 })
    assert.ok(store.asked < 12, `asked ${store.asked} times in a minute`)
  })
})
