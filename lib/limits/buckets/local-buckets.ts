import { type Bucket, type BucketState, peek, type Rate, refund, take } from './token-bucket.ts'

/** Keeps the buckets of callers, which may be this node's own or shared with other nodes. */
export interface BucketStrategy {
  /** Whether nodes share the buckets, so that a request may have to wait for their store. */
  readonly isShared: boolean
  /** Returns a bucket that is full, as far as this process knows. */
  open(id: string, now: number): Bucket
  /** Takes the requests if the bucket holds them. null: nothing is taken; wait for `ask`, and try again. */
  take(bucket: Bucket, rate: Rate, now: number, requests: number): BucketState | null
  /** Returns the state, and whether the bucket holds the requests; takes nothing. */
  peek(bucket: Bucket, rate: Rate, now: number, requests: number): BucketState
  /** Gives back requests that were taken but do not count. */
  refund(bucket: Bucket, now: number, requests: number): void
  /** Whether `take` would return null. */
  mustAsk(bucket: Bucket, rate: Rate, now: number, requests: number): boolean
  /** Asks the store that nodes share for requests. Resolves once `take` knows more. */
  ask(bucket: Bucket, rate: Rate, need: number): Promise<void>
  /** Charges what was answered in advance to the buckets that nodes share. */
  finish(): Promise<void>
  /** When requests were last taken from the bucket, or refused, in epoch milliseconds. */
  usedAt(bucket: Bucket): number
}

/** Buckets that no other node shares. */
export const LOCAL_BUCKETS: BucketStrategy = {
  isShared: false,
  open: (_id, now) => ({ spent: 0, at: now }),
  take,
  peek,
  refund: (bucket, _now, requests) => refund(bucket, requests),
  mustAsk: () => false,
  ask: async () => {},
  finish: async () => {},
  usedAt: ({ at }) => at,
}
