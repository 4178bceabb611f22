import { createQuestions } from './bucket-questions.ts'
import type { BucketStore } from './bucket-store.ts'
import {
  isLow,
  type LeasedBucket,
  lacksTokens,
  newLeasedBucket,
  peekLeased,
  refundLeased,
  takeFromOwnShare,
  takeLeased,
} from './leased-bucket.ts'
import type { BucketKeeper } from './local-buckets.ts'
import type { Bucket } from './token-bucket.ts'

/**
 * Buckets that all nodes share. A node answers from requests that the store has granted to it, and asks for
 * more in the background. While the store is away, the node uses an equal share of each bucket.
 */
export function createLeasedBuckets(store: BucketStore): BucketKeeper {
  const questions = createQuestions(store)
  return {
    open: (id, now) => newLeasedBucket(id, now),
    adopt: (bucket) => bucket,
    take: (given, rate, now, requests) => {
      const bucket = leased(given)
      if (questions.isAway()) {
        questions.retry(bucket, rate)
        return takeFromOwnShare(bucket, rate, { now, requests, nodes: store.countNodes() })
      }
      const state = takeLeased(bucket, rate, now, requests)
      if (state?.allowed === true && isLow(bucket, rate, now)) questions.askSoon(bucket, rate)
      return state
    },
    peek: (bucket, rate, now, requests) => peekLeased(leased(bucket), rate, now, requests),
    refund: (bucket, now, requests) => refundLeased(leased(bucket), now, requests),
    mustAsk: (bucket, rate, now, requests) =>
      !questions.isAway() && lacksTokens(leased(bucket), rate, now, requests),
    ask: (bucket, rate, need) => questions.ask(leased(bucket), rate, need),
    finish: questions.finish,
  }
}

function leased(bucket: Bucket): LeasedBucket {
  // safe: `open` makes all buckets
  return bucket as LeasedBucket
}
