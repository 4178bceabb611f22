import {
  type BillingPeriod,
  contains,
  monthOf,
  paidPeriod,
  type SubscriptionPeriod,
} from '../config/period.ts'
import { MINUTE_MS, SECOND_MS } from '../parts/durations.ts'
import { runInSlices } from '../parts/time-slices.ts'
import { withTimeout } from '../parts/with-timeout.ts'
import { type BucketStrategy, LOCAL_BUCKETS } from './buckets/local-buckets.ts'
import { createSharedBuckets } from './buckets/shared-buckets.ts'
import type { Bucket } from './buckets/token-bucket.ts'
import {
  type CallerState,
  callerId,
  callerLines,
  KnownCaller,
  Meter,
  type Metered,
  type MeterParts,
  planRate,
  userRate,
  withFewerLeft,
} from './meter.ts'
import { type Counts, type MeterOptions, USER_PERIODS, UserPeriod } from './user-period.ts'

/** How long a request waits for the counts of its user. */
const LOAD_MS = SECOND_MS

/** A user whose requests are counted in some period, or whose bucket was asked for. */
interface KnownUser {
  /** The bucket of all keys. */
  readonly bucket: Bucket
  /** Usually one. */
  periods: readonly UserPeriod[]
}

type User = Pick<Metered, 'userId' | 'paid'>

/** The rate limits and counters of all callers, in memory: no request waits for the database. Idle ones are forgotten. */
export class Meters {
  readonly #options: MeterOptions
  readonly #buckets: BucketStrategy
  readonly #parts: MeterParts
  readonly #callers = new Map<string, KnownCaller>()
  readonly #users = new Map<string, KnownUser>()
  /** Buckets of callers that have sent no request since the start. */
  readonly #restored: Map<string, Bucket>
  /** By then, all buckets that were not full at the start have refilled. */
  readonly #restoredUntil: number
  #month = monthOf(0)
  /** The time of the latest request, in epoch milliseconds. */
  #now: number

  /** Loads the buckets that are not full at `now`, in epoch milliseconds. */
  constructor(options: MeterOptions, now: number) {
    const { ledger, store } = options
    const { shared } = store
    this.#options = options
    this.#buckets = shared === undefined ? LOCAL_BUCKETS : createSharedBuckets(shared)
    this.#now = now
    const callers = ledger.open(callerLines(() => this.#now))
    const periods = ledger.open(USER_PERIODS)
    this.#parts = { buckets: this.#buckets, callers, periods }
    this.#restored = store.readBuckets(now - MINUTE_MS)
    this.#restoredUntil = now + MINUTE_MS
    // A clock that was ahead may have written `at`: the bucket would not refill before that time.
    for (const bucket of this.#restored.values()) bucket.at = Math.min(bucket.at, now)
  }

  /**
   * Loads what the database has about the caller, if that takes time. Await the promise, if there is one, before
   * you call other methods. After a second, or if they cannot be read, the request does without the counts: they
   * are added once they are read, or with the totals of the next write.
   */
  load(caller: Metered, now: number): Promise<void> | undefined {
    const { load } = this.#options.store
    if (load === undefined) return undefined
    const { userId, paid } = caller
    const { start } = this.#periodOf(paid, now)
    if (this.#findPeriod(userId, start) !== undefined) return undefined
    const loading = load(userId, start).catch(() => {})
    const late = () => void loading.then(() => this.#raise(userId, start))
    return withTimeout(loading, LOAD_MS, late).then(() => this.open(caller, now).askStore())
  }

  /** Opens the meter of the caller for one request. Its user counts in the current period. */
  open(caller: Metered, now: number): Meter {
    this.#now = now
    const id = callerId(caller)
    const known = this.#callers.get(id) ?? this.#openCaller(id, caller, now)
    if (known.period.period.start !== this.#periodOf(caller.paid, now).start) {
      known.moveTo(this.#openPeriod(caller, now))
    }
    return new Meter(this.#parts, known, caller)
  }

  /** Returns the state of the buckets; takes nothing. */
  peek(caller: Pick<Metered, 'userId' | 'plan' | 'key'>, now: number): CallerState {
    const { userId, plan } = caller
    const id = callerId(caller)
    const own = this.#callers.get(id)?.bucket ?? this.#restoreBucket(id, now)
    const { bucket: all } = this.#openUser(userId, now)
    const ofAll = this.#buckets.peek(all, userRate(plan), now, 1)
    return withFewerLeft(ofAll, this.#buckets.peek(own, planRate(plan), now, 1))
  }

  /**
   * Reads what all nodes have counted for the user in the current period. Await it before showing or charging
   * these counts: otherwise, this node does not know of requests that reach only other nodes. Rejects if the
   * database cannot be read.
   */
  async refresh({ userId, paid }: User, now: number): Promise<void> {
    const { load } = this.#options.store
    if (load === undefined) return
    const { start } = this.#periodOf(paid, now)
    await load(userId, start)
    this.#raise(userId, start)
  }

  /** Returns the requests counted in the user's current period. */
  periodRequests(user: User, now: number): number {
    return this.periodCounts(user, now).requests
  }

  /** Returns those requests, and how many of them are charged for. */
  periodCounts(user: User, now: number): Counts {
    const { requests, overage } = this.#openPeriod(user, now)
    return { requests, overage }
  }

  /** Tells the other nodes what this node has answered and they do not know yet. Call it before the process ends. */
  finish(): Promise<void> {
    return this.#buckets.finish()
  }

  /** Forgets callers that have been idle for longer than a bucket takes to refill. */
  async removeIdle(now: number): Promise<void> {
    await runInSlices(this.#removeIdle(now))
    await this.#options.store.removeBuckets(now - MINUTE_MS)
  }

  /** Other requests may open meters between two steps. */
  *#removeIdle(now: number): Generator<void, void> {
    const { periods } = this.#parts
    for (const [id, { at }] of this.#restored) {
      if (now - at > MINUTE_MS) this.#restored.delete(id)
      yield
    }
    for (const [id, caller] of this.#callers) {
      if (this.#isIdle(caller, now)) {
        this.#callers.delete(id)
        caller.period.callers -= 1
      }
      yield
    }
    for (const [userId, user] of this.#users) {
      user.periods = only(user.periods, (one) => one.callers > 0 || !periods.isWritten(one))
      if (user.periods.length === 0) this.#users.delete(userId)
      yield
    }
  }

  /** Unwritten meters, which can look idle after the clock was set forward, are not. */
  #isIdle(caller: KnownCaller, now: number): boolean {
    const { bucket } = caller
    return this.#parts.callers.isWritten(caller) && now - this.#buckets.usedAt(bucket) > MINUTE_MS
  }

  #openCaller(id: string, caller: Metered, now: number): KnownCaller {
    const period = this.#openPeriod(caller, now)
    const own = { id, bucket: this.#restoreBucket(id, now), plan: caller.plan }
    const opened = new KnownCaller(own, period)
    this.#callers.set(id, opened)
    this.#restored.delete(id)
    return opened
  }

  #restoreBucket(id: string, now: number): Bucket {
    return this.#restored.get(id) ?? this.#buckets.open(id, now)
  }

  /** Returns the counts of the user in the current period. */
  #openPeriod({ userId, paid }: User, now: number): UserPeriod {
    const period = this.#periodOf(paid, now)
    const known = this.#findPeriod(userId, period.start)
    if (known !== undefined) return known
    const user = this.#openUser(userId, now)
    const { bucket } = user
    const opened = new UserPeriod({ userId, period, bucket }, this.#options, this.#parts.periods)
    // A spread or a push would reserve room for 17.
    user.periods = user.periods.concat(opened)
    return opened
  }

  /** undefined: the user has no counts of the period here. */
  #findPeriod(userId: string, start: number): UserPeriod | undefined {
    return this.#users.get(userId)?.periods.find(({ period }) => period.start === start)
  }

  #openUser(userId: string, now: number): KnownUser {
    const known = this.#users.get(userId)
    if (known !== undefined) return known
    const bucket = this.#readUserBucket(userId, now) ?? this.#buckets.open(`all:${userId}`, now)
    bucket.at = Math.min(bucket.at, now)
    const user = { bucket, periods: [] }
    this.#users.set(userId, user)
    return user
  }

  /** Reads the database only soon after a start, since reading takes as long as a look-up. */
  #readUserBucket(userId: string, now: number): Bucket | undefined {
    if (now > this.#restoredUntil) return undefined
    return this.#options.store.readUserBucket(userId, now - MINUTE_MS)
  }

  /** Adds the loaded counts to those of the user. If they are not open here, they stay loaded until they are. */
  #raise(userId: string, start: number): void {
    this.#findPeriod(userId, start)?.raise(this.#options.store.readPeriod(userId, start))
  }

  #periodOf(paid: SubscriptionPeriod | null, now: number): BillingPeriod {
    if (paid !== null) return paidPeriod(paid, now)
    if (!contains(this.#month, now)) this.#month = monthOf(now)
    return this.#month
  }
}

/** Returns those that meet the condition; the list itself if all do, because a new one reserves room for 17. */
function only<One>(list: readonly One[], condition: (one: One) => boolean): readonly One[] {
  return list.every(condition) ? list : list.filter(condition)
}
