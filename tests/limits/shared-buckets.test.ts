import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import type { Rate } from '../../lib/limits/buckets/token-bucket.ts'
import type { ModelStore } from './shared/model-store.ts'
import {
  countAllowed,
  MINUTE_MS,
  NODES,
  nodeAt,
  open,
  openAll,
  openNode,
  TEN,
  take,
} from './shared/nodes.ts'

/** How long a node may keep requests that it has charged; its share of what refills then, for longer. */
const HOLD_MS = 1_000

describe('a bucket of one node', () => {
  it('allows its capacity, and says what is left', async () => {
    const { store, node } = open()
    for (let left = 9; left >= 0; left--) {
      const { allowed, remaining } = await take(node, TEN)
      assert.deepEqual([allowed, remaining], [true, left])
    }
    const refused = { allowed: false, remaining: 0, resetSeconds: 6 }
    assert.deepEqual(await take(node, TEN), refused)
    store.time += 6_000
    assert.equal((await take(node, TEN)).allowed, true)
    assert.deepEqual(await take(node, TEN), refused)
  })

  it('answers the first request before it asks, and a refusal without asking again', async () => {
    const { store, keeper, bucket } = open()
    assert.equal(keeper.mustAsk(bucket, TEN, 0, 1), false)
    assert.equal(keeper.take(bucket, TEN, 0, 1)?.allowed, true)
    assert.equal(store.asked, 0)
    assert.equal(keeper.mustAsk(bucket, TEN, 0, 1), true)
    await countAllowed([{ store, keeper, bucket }], TEN, 20)
    const before = store.asked
    assert.equal(keeper.take(bucket, TEN, 0, 1)?.allowed, false)
    await nextTurn()
    assert.equal(store.asked, before)
  })

  it('asks once for many requests that wait', async () => {
    const { store, node } = open()
    const rate = { capacity: 1_000, windowMs: MINUTE_MS }
    assert.equal(await countAllowed([node], rate, 101), 101)
    assert.ok(store.asked <= 3, `asked ${store.asked} times`)
  })

  it('lets questions in the background gather, and takes them along with one of a waiting request', async () => {
    const { store, keeper, bucket } = open(1, 1_000_000)
    const other = keeper.open('grace', 0)
    keeper.take(bucket, TEN, 0, 1)
    for (let turn = 0; turn < 10; turn++) await nextTurn()
    assert.equal(store.asked, 0)
    await keeper.ask(other, TEN, 1)
    assert.equal(store.asked, 1)
    assert.equal(keeper.peek(bucket, TEN, 0, 1).remaining, 9)
    assert.equal(keeper.mustAsk(bucket, TEN, 0, 1), false)
  })

  it('asks for a waiting request as soon as the last question is answered, not with what gathers meanwhile', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>()
    const { store, keeper } = open(1, 1_000_000)
    const charge = store.charge.bind(store)
    store.charge = (asks) => answered.then(() => charge(asks))
    const [first, second, third] = ['ada', 'grace', 'edsger'].map((id) => keeper.open(id, 0))
    assert.ok(first && second && third)
    const asked = keeper.ask(first, TEN, 1)
    await nextTurn()
    const waiting = keeper.ask(second, TEN, 1)
    keeper.take(third, TEN, 0, 1)
    answer()
    await Promise.all([asked, waiting])
    assert.equal(store.asked, 2)
    await keeper.finish()
  })

  it('charges what it has answered in advance before its node ends', async () => {
    const { store, keeper, bucket } = open(1, 1_000_000)
    keeper.take(bucket, TEN, 0, 1)
    await keeper.finish()
    assert.equal(store.asked, 1)
    const next = openNode(store)
    assert.ok((await countAllowed([next], TEN, 10)) < 10)
    await keeper.finish()
    await next.keeper.finish()
  })

  it('does not wait once it knows how many requests come', async () => {
    const { store, keeper, bucket } = open()
    const rate = { capacity: 6_000, windowMs: MINUTE_MS }
    let waited = 0
    for (let request = 0; request < 500; request++) {
      store.time += 10
      if (keeper.mustAsk(bucket, rate, store.time, 1)) waited += 1
      await take({ store, keeper, bucket }, rate)
      await nextTurn()
      await nextTurn()
      await nextTurn()
    }
    assert.ok(waited < 25, `waited ${waited} times`)
  })

  it('holds no part of several requests back', async () => {
    const { store, node } = open()
    assert.equal((await take(node, TEN, 8)).allowed, true)
    assert.equal((await take(node, TEN, 3)).allowed, false)
    assert.equal((await take(node, TEN, 2)).allowed, true)
    node.keeper.refund(node.bucket, store.time, 1)
    assert.equal((await take(node, TEN)).allowed, true)
    assert.equal((await take(node, TEN)).allowed, false)
  })

  it('charges nothing for a refunded request that it has answered in advance', async () => {
    for (const isAsked of [false, true]) {
      const { node } = open()
      assert.equal(node.keeper.take(node.bucket, TEN, 0, 1)?.allowed, true)
      const asking = isAsked ? node.keeper.ask(node.bucket, TEN, 0) : undefined
      for (let turn = 0; turn < 2 && isAsked; turn++) await nextTurn()
      node.keeper.refund(node.bucket, 0, 1)
      await asking
      assert.equal((await take(node, TEN, 10)).allowed, true)
    }
  })

  it('gives back all that has not refilled when it needs it', async () => {
    const { store, node } = open()
    await countAllowed([node], TEN, 6)
    for (let turn = 0; turn < 5; turn++) await nextTurn()
    assert.equal((await take(node, TEN, 10)).allowed, false)
    store.time += 36_000
    assert.equal(node.keeper.take(node.bucket, TEN, store.time, 1)?.allowed, true)
    node.keeper.refund(node.bucket, store.time, 1)
    assert.equal((await take(node, TEN, 10)).allowed, true)
  })

  it('allows more at once after a change to a larger plan, and two minutes after one to a smaller', async () => {
    const { store, node } = open()
    const large = { capacity: 600, windowMs: MINUTE_MS }
    assert.equal(await countAllowed([node], large, 700), 600)
    store.time += 7_000
    await take(node, TEN)
    store.time += 2 * MINUTE_MS
    assert.equal((await take(node, TEN)).allowed, true)
    assert.equal((await take(node, large)).allowed, true)
  })
})

describe('a bucket of several nodes', () => {
  it('allows at most one request more for each further node, however they arrive', async () => {
    const bursts = fc.array(
      fc.record({
        pauseMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20_000 })),
        node: fc.nat(NODES - 1),
        count: fc.oneof(fc.integer({ min: 1, max: 15 }), fc.integer({ min: 100, max: 400 })),
        isAwaited: fc.boolean(),
      }),
      { maxLength: 40 },
    )
    const capacities = fc.constantFrom(1, 3, 10, 120, 900)
    await fc.assert(
      fc.asyncProperty(capacities, bursts, async (capacity, all) => {
        const { store, nodes } = openAll()
        const rate = { capacity, windowMs: MINUTE_MS }
        const allowedAt: number[] = []
        const taking: Promise<unknown>[] = []
        for (const { pauseMs, node, count, isAwaited } of all) {
          await pause(store, pauseMs, taking)
          const burst = Array.from({ length: count }, async () => {
            const { allowed } = await take(nodeAt(nodes, node), rate)
            if (allowed) allowedAt.push(store.time)
          })
          taking.push(...burst)
          if (isAwaited) await Promise.all(burst)
        }
        await Promise.all(taking)
        const inOrder = allowedAt.toSorted((a, b) => a - b)
        assertWithin(inOrder, rate)
      }),
      { numRuns: 200 },
    )
  })

  it('uses an equal share on each node while the store is away, and the whole afterwards', async () => {
    const { store, nodes } = openAll()
    store.isAway = true
    const takeAll = () => countAllowed(nodes, TEN, 60)
    const first = await takeAll()
    // The first request of each node goes ahead before it knows that the store is away.
    assert.ok(first <= 10, `${first} were allowed`)
    store.time += MINUTE_MS
    assert.equal(await takeAll(), 9)
    store.isAway = false
    store.time += MINUTE_MS
    await new Promise((resolve) => setTimeout(resolve, 1_100))
    // Each node finds out with its next request.
    for (const node of nodes) await take(node, TEN)
    await nextTurn()
    await nextTurn()
    await nextTurn()
    store.time += MINUTE_MS
    const again = await takeAll()
    assert.ok(again >= 10 && again <= 12, `${again} were allowed`)
  })

  it('gives requests that are refunded while the store is away back to the own share of the node', async () => {
    const { store, keeper, bucket } = open(NODES)
    store.isAway = true
    await keeper.ask(bucket, TEN, 1)
    for (let round = 0; round < 20; round++) {
      // More than the share takes the whole of it.
      const requests = round % 2 === 0 ? 1 : 10
      assert.equal(keeper.take(bucket, TEN, 0, requests)?.allowed, true)
      keeper.refund(bucket, 0, requests)
    }
    assert.equal(keeper.take(bucket, TEN, 0, 3)?.allowed, true)
    assert.equal(keeper.take(bucket, TEN, 0, 1)?.allowed, false)
    keeper.refund(bucket, 0, 10)
    assert.equal(keeper.take(bucket, TEN, 0, 3)?.allowed, true)
  })
})

/** Lets time pass once all questions are answered, also those in the background: they take no time. */
async function pause(store: ModelStore, ms: number, taking: readonly Promise<unknown>[]) {
  if (ms === 0) return
  await Promise.all(taking)
  for (let turn = 0; turn < 5; turn++) await nextTurn()
  store.time += ms
}

/** Asserts that no period has more requests than the rate permits, for any that begins with a request. */
function assertWithin(allowedAt: readonly number[], { capacity, windowMs }: Rate): void {
  for (const [first, start] of allowedAt.entries()) {
    for (const [last, end] of allowedAt.entries()) {
      if (last < first) continue
      // What nodes keep refills once in HOLD_MS, and what they hold for less time once more.
      const longest = end - start + (first === 0 ? 0 : 2 * HOLD_MS)
      const bound = capacity + NODES - 1 + (longest * capacity) / windowMs
      const count = last - first + 1
      assert.ok(count <= bound + 1e-6, `${count} in ${end - start} ms, not ${bound}`)
    }
  }
}
