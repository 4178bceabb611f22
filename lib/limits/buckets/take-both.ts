import { type CallerState, emptier, slower } from '../caller-state.ts'
import { type Metered, planRate, userRate } from '../metered.ts'
import type { BucketKeeper } from './local-buckets.ts'
import type { Bucket } from './token-bucket.ts'

/** The bucket of a caller, and the bucket of all keys of its user. */
export interface BucketPair {
  readonly bucket: Bucket
  readonly user: { readonly bucket: Bucket }
}

/**
 * Returns a function that takes `requests` from both buckets if both hold that many. It returns null if it takes
 * nothing because the store must be asked first.
 */
export function createTakeBoth(buckets: BucketKeeper) {
  return (
    { bucket: own, user: { bucket: all } }: BucketPair,
    plan: Metered['plan'],
    now: number,
    requests: number,
  ): CallerState | null => {
    const rate = planRate(plan)
    const wanted = Math.min(requests, rate.capacity)
    const ofAll = buckets.take(all, userRate(plan), now, wanted)
    if (ofAll === null) return null
    if (!ofAll.allowed) return slower(ofAll, buckets.peek(own, rate, now, wanted))
    const ofOwn = buckets.take(own, rate, now, wanted)
    if (ofOwn?.allowed !== true) buckets.refund(all, now, wanted)
    if (ofOwn === null) return null
    return ofOwn.allowed ? emptier(ofAll, ofOwn) : { ...ofOwn, ofAllKeys: false }
  }
}
