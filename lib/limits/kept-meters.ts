import {
  type BillingPeriod,
  contains,
  monthOf,
  paidPeriod,
  type SubscriptionPeriod,
} from '../config/period.ts'
import { periodId } from '../db/use-flusher.ts'
import { MINUTE_MS } from '../durations.ts'
import { runInSlices } from '../in-slices.ts'
import type { BucketKeeper } from './buckets/local-buckets.ts'
import type { Bucket } from './buckets/token-bucket.ts'
import { UserBuckets } from './buckets/user-buckets.ts'
import { CallerMeter } from './caller-meter.ts'
import { callerId, type Metered } from './metered.ts'
import { UserMeter, type UserMeterOptions } from './user-meter.ts'

/** The meters of callers and users in memory. Opens them when they are asked for, and forgets idle ones. */
export class KeptMeters {
  readonly #options: UserMeterOptions
  readonly #buckets: BucketKeeper
  readonly #callers = new Map<string, CallerMeter>()
  readonly #users = new Map<string, UserMeter>()
  readonly #userBuckets: UserBuckets
  /** Buckets of callers that have sent no request since the start. */
  readonly #restored: Map<string, Bucket>
  #month = monthOf(0)

  /** Loads the buckets that are not full at `now`, in epoch milliseconds. */
  constructor(options: UserMeterOptions, buckets: BucketKeeper, now: number) {
    this.#options = options
    this.#buckets = buckets
    this.#userBuckets = new UserBuckets(options.store, buckets, now)
    this.#restored = options.store.readBuckets(now - MINUTE_MS)
    // A clock that was ahead may have written `at`: the bucket would not refill before that time.
    for (const bucket of this.#restored.values()) bucket.at = Math.min(bucket.at, now)
  }

  /** Returns the meter of the caller, whose user counts in the current period. */
  open(caller: Metered, now: number): CallerMeter {
    const id = callerId(caller)
    const meter = this.#callers.get(id) ?? this.#openCaller(id, caller, now)
    if (meter.user.period.start !== this.periodOf(caller.paid, now).start) {
      meter.moveTo(this.openUser(caller, now))
    }
    return meter
  }

  /** Returns the meter of the user in the current period. */
  openUser({ userId, paid }: Pick<Metered, 'userId' | 'paid'>, now: number): UserMeter {
    const period = this.periodOf(paid, now)
    const known = this.findUser(userId, period.start)
    if (known !== undefined) return known
    const user = new UserMeter(this.#options, userId, period, this.userBucket(userId, now))
    this.#userBuckets.hold(userId)
    this.#users.set(periodId({ userId, periodStart: period.start }), user)
    return user
  }

  /** undefined: the user has no meter for the period here. */
  findUser(userId: string, periodStart: number): UserMeter | undefined {
    return this.#users.get(periodId({ userId, periodStart }))
  }

  /** The bucket of all keys of the user. */
  userBucket(userId: string, now: number): Bucket {
    return this.#userBuckets.find(userId, now)
  }

  /** undefined: the caller has no bucket here, so it is full. */
  findBucket(id: string): Bucket | undefined {
    return this.#callers.get(id)?.bucket ?? this.#restored.get(id)
  }

  periodOf(paid: SubscriptionPeriod | null, now: number): BillingPeriod {
    if (paid !== null) return paidPeriod(paid, now)
    if (!contains(this.#month, now)) this.#month = monthOf(now)
    return this.#month
  }

  /** Forgets callers that have been idle for longer than a bucket takes to refill. */
  async removeIdle(now: number): Promise<void> {
    await runInSlices(this.#removeIdle(now))
  }

  /** Other requests may open meters between two steps. */
  *#removeIdle(now: number): Generator<void, void> {
    for (const [id, { at }] of this.#restored) {
      if (now - at > MINUTE_MS) this.#restored.delete(id)
      yield
    }
    for (const [id, caller] of this.#callers) {
      if (this.#isIdle(caller, now)) this.#removeCaller(id, caller)
      yield
    }
    for (const [id, user] of this.#users) {
      if (user.isWritten && user.callers === 0) this.#removeUser(id, user)
      yield
    }
    yield* this.#userBuckets.removeUnused()
  }

  /** Unwritten meters, which can look idle after the clock was set forward, are not. */
  #isIdle({ bucket, isWritten }: CallerMeter, now: number): boolean {
    return isWritten && now - this.#buckets.usedAt(bucket) > MINUTE_MS
  }

  #removeCaller(id: string, { user }: CallerMeter): void {
    this.#callers.delete(id)
    user.callers -= 1
  }

  #removeUser(id: string, { userId }: UserMeter): void {
    this.#users.delete(id)
    this.#userBuckets.letGo(userId)
  }

  #openCaller(id: string, caller: Metered, now: number): CallerMeter {
    const user = this.openUser(caller, now)
    const meter = new CallerMeter(id, this.#restoreBucket(id, now), user, this.#options.write)
    this.#callers.set(id, meter)
    this.#restored.delete(id)
    return meter
  }

  #restoreBucket(id: string, now: number): Bucket {
    return this.#restored.get(id) ?? this.#buckets.open(id, now)
  }
}
