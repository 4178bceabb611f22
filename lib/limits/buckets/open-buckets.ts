import type { UserMeterOptions } from '../user-meter.ts'
import { type BucketKeeper, LOCAL_BUCKETS } from './local-buckets.ts'
import { createSharedBuckets } from './shared-buckets.ts'
import { createThreadBuckets } from './thread-buckets.ts'

/** Opens the buckets that all nodes share, that all threads share, or that nobody shares. */
export function openBuckets({ store: { shared }, rowPool }: UserMeterOptions): BucketKeeper {
  if (shared !== undefined) return createSharedBuckets(shared)
  return rowPool === undefined ? LOCAL_BUCKETS : createThreadBuckets(rowPool)
}
