import type { CallerState } from '../caller-state.ts'
import { emptier, slower } from '../caller-state.ts'
import type { BucketKeeper } from './local-buckets.ts'
import type { Bucket, Rate } from './token-bucket.ts'

/** A bucket with its rate. */
export interface Sized {
  readonly bucket: Bucket
  readonly rate: Rate
}

/**
 * Takes `requests` from the bucket of all keys of a user, and from the bucket of the caller, if both hold
 * that many. null: nothing is taken; the store must be asked first.
 */
export function takeBoth(
  buckets: BucketKeeper,
  { all, own }: { readonly all: Sized; readonly own: Sized },
  now: number,
  requests: number,
): CallerState | null {
  const wanted = Math.min(requests, own.rate.capacity)
  const ofAll = buckets.take(all.bucket, all.rate, now, wanted)
  if (ofAll === null) return null
  if (!ofAll.allowed) return slower(ofAll, buckets.peek(own.bucket, own.rate, now, wanted))
  const ofOwn = buckets.take(own.bucket, own.rate, now, wanted)
  if (ofOwn?.allowed !== true) buckets.refund(all.bucket, now, wanted)
  if (ofOwn === null) return null
  return ofOwn.allowed ? emptier(ofAll, ofOwn) : { ...ofOwn, ofAllKeys: false }
}
