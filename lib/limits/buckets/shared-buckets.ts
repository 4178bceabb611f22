import { createQuestions } from './bucket-questions.ts'
import type { BucketStore } from './bucket-store.ts'
import type { BucketKeeper } from './local-buckets.ts'
import {
  isLow,
  lacksTokens,
  newSharedBucket,
  peekShared,
  refundShared,
  type SharedBucket,
  takeFromOwnShare,
  takeShared,
} from './shared-bucket.ts'
import type { Bucket } from './token-bucket.ts'

/**
 * Buckets that all nodes share. A node answers from requests that the store has granted to it, and asks for
 * more in the background. While the store is away, the node uses an equal share of each bucket.
 */
export function createSharedBuckets(store: BucketStore): BucketKeeper {
  const questions = createQuestions(store)
  return {
    isShared: true,
    open: (id, now) => newSharedBucket(id, now),
    take: (given, rate, now, requests) => {
      const bucket = shared(given)
      if (questions.isAway()) {
        questions.retry(bucket, rate)
        return takeFromOwnShare(bucket, rate, { now, requests, nodes: store.countNodes() })
      }
      const state = takeShared(bucket, rate, now, requests)
      if (state?.allowed === true && isLow(bucket, rate, now)) questions.askSoon(bucket, rate)
      return state
    },
    peek: (bucket, rate, now, requests) => peekShared(shared(bucket), rate, now, requests),
    refund: (bucket, now, requests) => refundShared(shared(bucket), now, requests),
    mustAsk: (bucket, rate, now, requests) =>
      !questions.isAway() && lacksTokens(shared(bucket), rate, now, requests),
    ask: (bucket, rate, need) => questions.ask(shared(bucket), rate, need),
    finish: questions.finish,
    usedAt: (bucket) => shared(bucket).usedAt,
  }
}

function shared(bucket: Bucket): SharedBucket {
  // safe: `open` makes all buckets
  return bucket as SharedBucket
}
