import assert from 'node:assert/strict'
import type { BucketStrategy } from '../../../lib/limits/buckets/local-buckets.ts'
import type { BucketStore } from '../../../lib/limits/buckets/shared-bucket.ts'
import { createSharedBuckets } from '../../../lib/limits/buckets/shared-buckets.ts'
import type { Bucket, BucketState, Rate } from '../../../lib/limits/buckets/token-bucket.ts'
import { ModelStore } from './model-store.ts'

export const NODES = 3
export const MINUTE_MS = 60_000
export const TEN: Rate = { capacity: 10, windowMs: MINUTE_MS }

/** One of the nodes that share a bucket. */
export interface Node {
  readonly store: BucketStore
  readonly keeper: BucketStrategy
  readonly bucket: Bucket
}

export function openNode<Store extends BucketStore>(store: Store) {
  const keeper = createSharedBuckets(store)
  return { store, keeper, bucket: keeper.open('ada', store.now()) } satisfies Node
}

/** One node of so many, over a model of the store. `gatherMs`: how long its questions gather. */
export function open(nodes = 1, gatherMs?: number) {
  const model = new ModelStore(nodes)
  const store = gatherMs === undefined ? model : Object.assign(model, { gatherMs })
  const node = openNode(store)
  return { ...node, node }
}

/** All nodes over one model of the store. */
export function openAll() {
  const store = new ModelStore(NODES)
  return { store, nodes: Array.from({ length: NODES }, () => openNode(store)) }
}

/** Takes requests, and waits for the store if that is necessary. */
export async function take(
  { store, keeper, bucket }: Node,
  rate: Rate,
  requests = 1,
): Promise<BucketState> {
  for (;;) {
    const state = keeper.take(bucket, rate, store.now(), requests)
    if (state !== null) return state
    await keeper.ask(bucket, rate, requests)
  }
}

/** Takes single requests from all nodes at once. Returns how many were allowed. */
export async function countAllowed(
  nodes: readonly Node[],
  rate: Rate,
  requests: number,
): Promise<number> {
  const taking = Array.from({ length: requests }, (_, at) => take(nodeAt(nodes, at), rate))
  return (await Promise.all(taking)).filter(({ allowed }) => allowed).length
}

export function nodeAt(nodes: readonly Node[], index: number): Node {
  const node = nodes[index % nodes.length]
  assert.ok(node)
  return node
}
