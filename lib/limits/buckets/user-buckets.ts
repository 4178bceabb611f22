import { MINUTE_MS } from '../../durations.ts'
import type { MeterStore } from '../meter-store.ts'
import type { BucketKeeper } from './local-buckets.ts'
import type { Bucket } from './token-bucket.ts'

/** For each user, the bucket of all keys together. All periods of a user share it. */
export class UserBuckets {
  readonly #store: MeterStore
  readonly #buckets: BucketKeeper
  readonly #byUser = new Map<string, Bucket>()
  /** By then, all buckets that were not full at the start have refilled. */
  readonly #restoredUntil: number

  constructor(store: MeterStore, buckets: BucketKeeper, now: number) {
    this.#store = store
    this.#buckets = buckets
    this.#restoredUntil = now + MINUTE_MS
  }

  find(userId: string, now: number): Bucket {
    const known = this.#byUser.get(userId)
    if (known !== undefined) return known
    const stored = this.#readStored(userId, now)
    const bucket = this.#buckets.adopt(stored ?? this.#buckets.open(`all:${userId}`, now))
    bucket.at = Math.min(bucket.at, now)
    this.#byUser.set(userId, bucket)
    return bucket
  }

  /** Forgets the buckets of all other users, and returns them. */
  keep(users: ReadonlySet<string>): Bucket[] {
    const removed: Bucket[] = []
    for (const [userId, bucket] of this.#byUser) {
      if (users.has(userId)) continue
      this.#byUser.delete(userId)
      removed.push(bucket)
    }
    return removed
  }

  /** Reads the database only soon after a start, since reading takes as long as a look-up. */
  #readStored(userId: string, now: number): Bucket | undefined {
    if (now > this.#restoredUntil) return undefined
    return this.#store.readUserBucket(userId, now - MINUTE_MS)
  }
}
