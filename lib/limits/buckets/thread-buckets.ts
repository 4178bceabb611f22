import type { BucketKeeper } from './local-buckets.ts'
import { type RowPool, ThreadBucket } from './thread-rows.ts'
import { type Bucket, peek, refund, take } from './token-bucket.ts'

/** A clock that is behind by more than this has been set back. */
const SKEW_MS = 100

/** Buckets that all threads of this process use, as long as there are free rows. */
export function createThreadBuckets(rowPool: RowPool | null): BucketKeeper {
  const adopt = (bucket: Bucket): Bucket => {
    const row = rowPool?.take()
    if (rowPool === null || row === undefined) return bucket
    const adopted = new ThreadBucket(rowPool.rows, row)
    adopted.spent = bucket.spent
    adopted.at = bucket.at
    return adopted
  }
  return {
    open: (_id, now) => ({ spent: 0, at: now }),
    adopt,
    take: (bucket, rate, now, requests) => {
      lock(bucket)
      try {
        return take(bucket, rate, latest(bucket, now), requests)
      } finally {
        unlock(bucket)
      }
    },
    peek: (bucket, rate, now, requests) => {
      lock(bucket)
      try {
        return peek(bucket, rate, now, requests)
      } finally {
        unlock(bucket)
      }
    },
    refund: (bucket, _now, requests) => {
      lock(bucket)
      try {
        refund(bucket, requests)
      } finally {
        unlock(bucket)
      }
    },
    mustAsk: () => false,
    ask: async () => {},
    finish: async () => {},
    usedAt: ({ at }) => at,
  }
}

/**
 * Returns `now`, or the bucket's time if that is later: another thread has read the clock later, but locked
 * the bucket first. With `now`, the same time would refill the bucket twice.
 */
function latest({ at }: Bucket, now: number): number {
  return now < at && at - now < SKEW_MS ? at : now
}

/** Waits until no other thread uses the bucket. A bucket without a row belongs to this thread alone. */
function lock(bucket: Bucket): void {
  if (bucket instanceof ThreadBucket) bucket.rows.lock(bucket.row)
}

function unlock(bucket: Bucket): void {
  if (bucket instanceof ThreadBucket) bucket.rows.unlock(bucket.row)
}
