import type { BucketState } from './buckets/token-bucket.ts'

/** The state of the bucket that leaves the caller fewer requests. */
export interface CallerState extends BucketState {
  /** Whether this is the bucket of all keys of the user, and not that of the caller alone. */
  readonly ofAllKeys: boolean
}

/** For a request that has waited in vain, because others took what was granted. */
export const BUSY: CallerState = { allowed: false, remaining: 0, resetSeconds: 1, ofAllKeys: false }

/** The state of the bucket that holds fewer requests. */
export function emptier(all: BucketState, own: BucketState): CallerState {
  return all.remaining < own.remaining ? { ...all, ofAllKeys: true } : { ...own, ofAllKeys: false }
}

/** The state to report if the bucket of all keys refuses: that of the bucket that takes longer to refill. */
export function slower(all: BucketState, own: BucketState): CallerState {
  if (own.allowed || own.resetSeconds < all.resetSeconds) return { ...all, ofAllKeys: true }
  return { ...own, ofAllKeys: false }
}
