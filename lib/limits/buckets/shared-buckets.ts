import type { UserMeterOptions } from '../user-meter.ts'
import { createLeasedBuckets } from './leased-buckets.ts'
import { type BucketKeeper, LOCAL_BUCKETS } from './local-buckets.ts'
import { type RowPool, SharedBucket } from './shared-rows.ts'
import { type Bucket, peek, refund, take } from './token-bucket.ts'

/** Opens the buckets that all nodes share, that all threads share, or that nobody shares. */
export function openBuckets({ store: { shared }, pool }: UserMeterOptions): BucketKeeper {
  if (shared !== undefined) return createLeasedBuckets(shared)
  return pool === undefined ? LOCAL_BUCKETS : createSharedBuckets(pool)
}

/** A clock that is behind by more than this has been set back. */
const SKEW_MS = 100

/** Buckets that all threads of this process share, as long as there are free rows. */
export function createSharedBuckets(pool: RowPool | null): BucketKeeper {
  const share = (bucket: Bucket): Bucket => {
    const row = pool?.take()
    if (pool === null || row === undefined) return bucket
    const shared = new SharedBucket(pool.rows, row)
    shared.spent = bucket.spent
    shared.at = bucket.at
    return shared
  }
  return {
    open: (_id, now) => ({ spent: 0, at: now }),
    adopt: share,
    take: (bucket, rate, now, requests) =>
      locked(bucket, () => take(bucket, rate, latest(bucket, now), requests)),
    peek: (bucket, rate, now, requests) => locked(bucket, () => peek(bucket, rate, now, requests)),
    refund: (bucket, _now, requests) => locked(bucket, () => refund(bucket, requests)),
    mustAsk: () => false,
    ask: async () => {},
  }
}

/**
 * Returns `now`, or the bucket's time if that is later: another thread has read the clock later, but locked
 * the bucket first. With `now`, the same time would refill the bucket twice.
 */
function latest({ at }: Bucket, now: number): number {
  return now < at && at - now < SKEW_MS ? at : now
}

/** Runs `work` while no other thread uses the bucket. */
function locked<Result>(bucket: Bucket, work: () => Result): Result {
  if (!(bucket instanceof SharedBucket)) return work()
  const { rows, row } = bucket
  rows.lock(row)
  try {
    return work()
  } finally {
    rows.unlock(row)
  }
}
