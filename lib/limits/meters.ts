import { capIn } from '../config/carried-requests.ts'
import {
  contains,
  dayOf,
  monthOf,
  type Period,
  paidPeriod,
  type SubscriptionPeriod,
} from '../config/period.ts'
import { periodId } from '../db/use-flusher.ts'
import { MINUTE_MS } from '../durations.ts'
import { CallerMeter, type MeterParts } from './caller-meter.ts'
import { type Bucket, type BucketState, peek, type Rate, refund, take } from './token-bucket.ts'
import { type Counts, type Paid, UserMeter, type UserMeterOptions } from './user-meter.ts'

/** A caller whose requests are limited and counted. */
export interface Metered {
  readonly userId: string
  readonly plan: {
    readonly requestsPerMinute: number
    readonly maxKeys: number
    readonly monthlyCap: number
  }
  /** null without a subscription: requests are then counted by calendar month, UTC. */
  readonly paid: (SubscriptionPeriod & Paid) | null
  /** null for a session; all sessions of a user share one rate limit. */
  readonly key: { readonly id: string } | null
}

/** The state of the bucket that leaves the caller fewer requests. */
export interface CallerState extends BucketState {
  /** Whether this is the bucket of all keys of the user, and not that of the caller alone. */
  readonly ofAllKeys: boolean
}

/** The rate limits and counters of all callers, in memory: no request waits for the database. */
export class Meters {
  readonly #parts: MeterParts
  readonly #callers = new Map<string, CallerMeter>()
  readonly #users = new Map<string, UserMeter>()
  readonly #userBuckets = new Map<string, Bucket>()
  /** Buckets of callers that have sent no request since the start. */
  readonly #restored: Map<string, Bucket>
  #month = monthOf(0)

  /** Loads the buckets that are not full at `now`, in epoch milliseconds. */
  constructor(options: UserMeterOptions, now: number) {
    this.#parts = { ...options, unwritten: new Set() }
    this.#restored = options.store.readBuckets(now - MINUTE_MS)
    // A clock that was ahead may have written `at`: the bucket would not refill before that time.
    for (const bucket of this.#restored.values()) bucket.at = Math.min(bucket.at, now)
  }

  /**
   * Loads what the database has about the caller, where that takes time. Await it before the other
   * methods. undefined: nothing is to be loaded.
   */
  load({ userId, paid }: Pick<Metered, 'userId' | 'paid'>, now: number): Promise<void> | undefined {
    const { store } = this.#parts
    if (store.load === undefined) return undefined
    const { start } = this.#periodOf(paid, now)
    if (this.#users.has(periodId({ userId, periodStart: start }))) return undefined
    return store.load(userId, start)
  }

  /** Takes `requests` from the buckets of the caller and the user if both hold that many. */
  take(caller: Metered, now: number, requests = 1): CallerState {
    const meter = this.#find(caller, now)
    const { bucket } = this.#userOf(caller, now, meter)
    const rate = planRate(caller.plan)
    const wanted = Math.min(requests, rate.capacity)
    const all = take(bucket, userRate(caller.plan), now, wanted)
    if (!all.allowed) return slower(all, peek(meter.bucket, rate, now, wanted))
    const own = take(meter.bucket, rate, now, wanted)
    if (!own.allowed) {
      refund(bucket, wanted)
      return { ...own, ofAllKeys: false }
    }
    meter.queue()
    meter.user.queue()
    return emptier(all, own)
  }

  /** Takes `requests` from the buckets, in place of one request that was taken before. */
  takeInstead(caller: Metered, now: number, requests: number): CallerState {
    const meter = this.#find(caller, now)
    refund(meter.bucket)
    refund(this.#userOf(caller, now, meter).bucket)
    return this.take(caller, now, requests)
  }

  /** Returns the state of the buckets; takes nothing. */
  peek(caller: Pick<Metered, 'userId' | 'plan' | 'key'>, now: number): CallerState {
    const { userId, plan } = caller
    const id = callerId(caller)
    const bucket = this.#callers.get(id)?.bucket ?? this.#restored.get(id) ?? fullBucket(now)
    const all = peek(this.#bucketOf(userId, now), userRate(plan), now)
    return emptier(all, peek(bucket, planRate(plan), now))
  }

  /** Whether the user has reached the cap of the period, and pays for no more requests. */
  isOverCap(caller: Metered, now: number): boolean {
    return this.leftToCap(caller, now) === 0
  }

  /** Returns how many more requests may be answered in full in this period. */
  leftToCap(caller: Metered, now: number): number {
    return this.#userOf(caller, now, this.#find(caller, now)).left(caller)
  }

  /** Counts answered requests; those over the cap are overages as far as the user pays for them. */
  count(caller: Metered, now: number, requests = 1): void {
    const meter = this.#find(caller, now)
    meter.count(requests)
    this.#userOf(caller, now, meter).count(caller, requests)
  }

  /** Returns how many requests of the current period may be answered in full, without overages. */
  cap({ plan, paid }: Pick<Metered, 'plan' | 'paid'>, now: number): number {
    return capIn(this.#periodOf(paid, now), plan, paid?.carriedRequests)
  }

  /** Returns the requests counted in the user's current period. */
  periodRequests(caller: Pick<Metered, 'userId' | 'paid'>, now: number): number {
    return this.periodCounts(caller, now).requests
  }

  /** Returns those requests, and how many of them are charged for. */
  periodCounts({ userId, paid }: Pick<Metered, 'userId' | 'paid'>, now: number): Counts {
    const { requests, overage } = this.#openUser(userId, this.#periodOf(paid, now), now)
    return { requests, overage }
  }

  /**
   * Returns the requests of the user since `fromDay` by day, written or not. Call it only while no write
   * is under way: see `UseFlusher.betweenFlushes`.
   */
  async requestsByDay(userId: string, fromDay: number): Promise<ReadonlyMap<number, number>> {
    const written = await this.#parts.store.readDays(userId, fromDay)
    const days = new Map(written.map(({ day, requests }) => [day, requests]))
    for (const { caller, requests } of this.#parts.unwritten) {
      if (caller.userId !== userId || caller.day < fromDay || requests === 0) continue
      days.set(caller.day, (days.get(caller.day) ?? 0) + requests)
    }
    return days
  }

  /** Forgets callers that have been idle for longer than a bucket takes to refill. */
  async removeIdle(now: number): Promise<void> {
    for (const [id, { at }] of this.#restored) {
      if (now - at > MINUTE_MS) this.#restored.delete(id)
    }
    this.#removeIdleCallers(now)
    this.#removeUnusedUsers()
    await this.#parts.store.removeBuckets(now - MINUTE_MS)
  }

  /** Keeps unwritten meters, which can look idle after the clock was set forward. */
  #removeIdleCallers(now: number): void {
    const unwritten = new Set([...this.#parts.unwritten].map(({ bucket }) => bucket))
    for (const [id, { bucket }] of this.#callers) {
      if (now - bucket.at > MINUTE_MS && !unwritten.has(bucket)) this.#callers.delete(id)
    }
  }

  #removeUnusedUsers(): void {
    const used = new Set([...this.#callers.values()].map(({ user }) => user))
    for (const [id, user] of this.#users) {
      if (user.isWritten && !used.has(user)) this.#users.delete(id)
    }
    const kept = new Set([...this.#users.values()].map(({ userId }) => userId))
    for (const userId of this.#userBuckets.keys()) {
      if (!kept.has(userId)) this.#userBuckets.delete(userId)
    }
  }

  /** Finds or opens the caller's meter of the day. The previous day's is dropped once it is written. */
  #find(caller: Metered, now: number): CallerMeter {
    const id = callerId(caller)
    const meter = this.#callers.get(id)
    return meter?.caller.day === dayOf(now) ? meter : this.#openCaller(id, caller, now)
  }

  #openCaller(id: string, { userId, key, paid }: Metered, now: number): CallerMeter {
    const day = { id, userId, keyId: key?.id ?? '', day: dayOf(now) }
    const bucket = this.#callers.get(id)?.bucket ?? this.#restored.get(id) ?? fullBucket(now)
    const user = this.#openUser(userId, this.#periodOf(paid, now), now)
    const meter = new CallerMeter(this.#parts, day, bucket, user)
    this.#callers.set(id, meter)
    this.#restored.delete(id)
    return meter
  }

  #userOf({ paid }: Metered, now: number, meter: CallerMeter): UserMeter {
    const period = this.#periodOf(paid, now)
    if (meter.user.period.start !== period.start) {
      meter.user = this.#openUser(meter.caller.userId, period, now)
    }
    return meter.user
  }

  #periodOf(paid: SubscriptionPeriod | null, now: number): Period {
    if (paid !== null) return paidPeriod(paid, now)
    if (!contains(this.#month, now)) this.#month = monthOf(now)
    return this.#month
  }

  #openUser(userId: string, period: Period, now: number): UserMeter {
    const id = periodId({ userId, periodStart: period.start })
    const known = this.#users.get(id)
    if (known !== undefined) return known
    const user = new UserMeter(this.#parts, userId, period, this.#bucketOf(userId, now))
    this.#users.set(id, user)
    return user
  }

  /** All periods of a user share one bucket. */
  #bucketOf(userId: string, now: number): Bucket {
    const known = this.#userBuckets.get(userId)
    if (known !== undefined) return known
    const bucket = this.#parts.store.readUserBucket(userId, now - MINUTE_MS) ?? fullBucket(now)
    bucket.at = Math.min(bucket.at, now)
    this.#userBuckets.set(userId, bucket)
    return bucket
  }
}

/** The state of the bucket that holds fewer requests. */
function emptier(all: BucketState, own: BucketState): CallerState {
  return all.remaining < own.remaining ? { ...all, ofAllKeys: true } : { ...own, ofAllKeys: false }
}

/** The state to report if the bucket of all keys refuses: that of the bucket that takes longer to refill. */
function slower(all: BucketState, own: BucketState): CallerState {
  if (own.allowed || own.resetSeconds < all.resetSeconds) return { ...all, ofAllKeys: true }
  return { ...own, ofAllKeys: false }
}

function callerId({ userId, key }: Pick<Metered, 'userId' | 'key'>): string {
  return key === null ? `user:${userId}` : key.id
}

function fullBucket(now: number): Bucket {
  return { spent: 0, at: now }
}

/** The size and refill rate of a caller's bucket. */
export function planRate({ requestsPerMinute }: Metered['plan']): Rate {
  return { capacity: requestsPerMinute, windowMs: MINUTE_MS }
}

/** The same for all keys of a user together, so that replacing keys does not give more requests. */
export function userRate({ requestsPerMinute, maxKeys }: Metered['plan']): Rate {
  return { capacity: requestsPerMinute * Math.max(1, maxKeys), windowMs: MINUTE_MS }
}
