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
    const known = this.#byUser.get(userId)
    if (known !== undefined) return known.bucket
    const stored = this.#readStored(userId, now)
    const bucket = stored ?? this.#buckets.open(`all:${userId}`, now)
    bucket.at = Math.min(bucket.at, now)
    this.#byUser.set(userId, { bucket, meters: 0 })
    return bucket
  }

  /** Keeps the bucket, which was found, for one more meter. */
  hold(userId: string): void {
    this.#addMeters(userId, 1)
  }

  /** Keeps it for one meter less. */
  letGo(userId: string): void {
    this.#addMeters(userId, -1)
  }

  #addMeters(userId: string, count: number): void {
    const known = this.#byUser.get(userId)
    if (known !== undefined) known.meters += count
  }

  /** Forgets the buckets that no meter holds. Each step looks at one bucket. */
  *removeUnused(): Generator<void, void> {
    for (const [userId, { meters }] of this.#byUser) {
      if (meters === 0) this.#byUser.delete(userId)
      yield
    }
  }

  /** Reads the database only soon after a start, since reading takes as long as a look-up. */
  #readStored(userId: string, now: number): Bucket | undefined {
    if (now > this.#restoredUntil) return undefined
    return this.#store.readUserBucket(userId, now - MINUTE_MS)
  }
}
