import { MINUTE_MS } from '../../durations.ts'
import type { MeterStore } from '../meter-store.ts'
import type { BucketKeeper } from './local-buckets.ts'
import type { Bucket } from './token-bucket.ts'

interface KnownBucket {
  readonly bucket: Bucket
  /** How many meters hold it. */
  meters: number
}

/** For each user, the bucket of all keys together. All periods of a user share it. */
export class UserBuckets {
  readonly #store: MeterStore
  readonly #buckets: BucketKeeper
  readonly #byUser = new Map<string, KnownBucket>()
  /** By then, all buckets that were not full at the start have refilled. */
  readonly #restoredUntil: number

  constructor(store: MeterStore, buckets: BucketKeeper, now: number) {
    this.#store = store
    this.#buckets = buckets
    this.#restoredUntil = now + MINUTE_MS
  }

  find(userId: string, now: number): Bucket {
    return this.#load(userId, now).bucket
  }

  /** Finds the bucket for a meter, which must let it go when it ends. */
  hold(userId: string, now: number): Bucket {
    const known = this.#load(userId, now)
    known.meters += 1
    return known.bucket
  }

  letGo(userId: string): void {
    const known = this.#byUser.get(userId)
    if (known !== undefined) known.meters -= 1
  }

  /** Forgets the buckets that no meter holds. Each step returns such a bucket, or none. */
  *removeUnused(): Generator<Bucket | undefined, void> {
    for (const [userId, { bucket, meters }] of this.#byUser) {
      if (meters === 0) this.#byUser.delete(userId)
      yield meters === 0 ? bucket : undefined
    }
  }

  #load(userId: string, now: number): KnownBucket {
    const known = this.#byUser.get(userId)
    if (known !== undefined) return known
    const stored = this.#readStored(userId, now)
    const bucket = this.#buckets.adopt(stored ?? this.#buckets.open(`all:${userId}`, now))
    bucket.at = Math.min(bucket.at, now)
    const added = { bucket, meters: 0 }
    this.#byUser.set(userId, added)
    return added
  }

  /** Reads the database only soon after a start, since reading takes as long as a look-up. */
  #readStored(userId: string, now: number): Bucket | undefined {
    if (now > this.#restoredUntil) return undefined
    return this.#store.readUserBucket(userId, now - MINUTE_MS)
  }
}
