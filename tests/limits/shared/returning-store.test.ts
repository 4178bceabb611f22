import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BucketStore } from '../../../lib/limits/buckets/shared-bucket.ts'
import type { ModelStore } from './model-store.ts'
import { MINUTE_MS, type Node, nodeAt, openAll, take } from './nodes.ts'

describe('a shared bucket refuses nobody who is below the limit', () => {
  const SIXTY = { capacity: 60, windowMs: MINUTE_MS }
  /** As requests do: they wait for the store only if they must. */
  const isAllowed = async ({ store, keeper, bucket }: Node, now = store.now()) => {
    if (keeper.mustAsk(bucket, SIXTY, now, 1)) await keeper.ask(bucket, SIXTY, 1)
    return keeper.take(bucket, SIXTY, now, 1)?.allowed
  }
  /** Sends 40 a minute for 9 seconds. */
  const sendAll = async (store: ModelStore, node: Node) => {
    for (let request = 0; request < 6; request++) {
      assert.equal(await isAllowed(node), true)
      store.time += 1_500
    }
  }

  it('when a store that was away returns', async () => {
    const { store, nodes } = openAll()
    const node = nodeAt(nodes, 0)
    for (let time = 0; time < 3; time++) {
      await sendAll(store, node)
      store.isAway = true
      await node.keeper.ask(node.bucket, SIXTY, 1)
      await sendAll(store, node)
      store.isAway = false
      // Another caller finds out that it is back.
      await node.keeper.ask(node.keeper.open('grace', store.time), SIXTY, 1)
    }
    await sendAll(store, node)
  })

  it('because of what was answered and is not charged yet', async () => {
    const { store, nodes } = openAll()
    const node = nodeAt(nodes, 0)
    assert.equal((await take(node, SIXTY, 50)).allowed, true)
    store.isAway = true
    await node.keeper.ask(node.bucket, SIXTY, 1)
    store.time += 10_000
    for (let request = 0; request < 6; request++) await isAllowed(node)
    store.isAway = false
    await node.keeper.ask(node.keeper.open('grace', store.time), SIXTY, 1)
    store.time += 4_000
    await sendAll(store, node)
  })

  it('when the clock of the node was set back', async () => {
    const { store, nodes } = openAll()
    const node = nodeAt(nodes, 0)
    store.time = 10 * MINUTE_MS
    assert.equal((await take(node, SIXTY, 60)).allowed, true)
    assert.equal(await isAllowed(node), false)
    const slow: BucketStore = store
    slow.now = () => store.time - 2 * MINUTE_MS
    store.time += MINUTE_MS
    assert.equal(await isAllowed(node), true)
  })
})
