import { capIn } from '../config/carried-requests.ts'
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
import { openBuckets } from './buckets/open-buckets.ts'
import { createTakeBoth } from './buckets/take-both.ts'
import { type CallerRows, rowOf, ThreadBucket } from './buckets/thread-rows.ts'
import type { Bucket, Rate } from './buckets/token-bucket.ts'
import { UserBuckets } from './buckets/user-buckets.ts'
import { CallerMeter } from './caller-meter.ts'
import { BUSY, type CallerState, emptier } from './caller-state.ts'
import { callerId, type Metered, planRate, userRate } from './metered.ts'
import { type Counts, UserMeter, type UserMeterOptions } from './user-meter.ts'

/** A request asks the store at most this many times: other requests may take what was granted. */
const ATTEMPTS = 10

/** The rate limits and counters of all callers, in memory: no request waits for the database. */
export class Meters {
  /** Whether nodes share the buckets, so that a request may have to wait for their store. */
  readonly isShared: boolean
  readonly #options: UserMeterOptions
  readonly #buckets: BucketKeeper
  readonly #takeBoth: ReturnType<typeof createTakeBoth>
  readonly #callers = new Map<string, CallerMeter>()
  readonly #users = new Map<string, UserMeter>()
  readonly #userBuckets: UserBuckets
  /** Buckets of callers that have sent no request since the start. */
  readonly #restored: Map<string, Bucket>
  #month = monthOf(0)

  /** Loads the buckets that are not full at `now`, in epoch milliseconds. */
  constructor(options: UserMeterOptions, now: number) {
    this.#options = options
    const { shared } = options.store
    this.isShared = shared !== undefined
    this.#buckets = openBuckets(options)
    this.#takeBoth = createTakeBoth(this.#buckets)
    this.#userBuckets = new UserBuckets(options.store, this.#buckets, now)
    this.#restored = options.store.readBuckets(now - MINUTE_MS)
    // A clock that was ahead may have written `at`: the bucket would not refill before that time.
    for (const bucket of this.#restored.values()) bucket.at = Math.min(bucket.at, now)
  }

  /**
   * Loads what the database has about the caller, if that takes time. Await it before the other methods.
   * undefined: there is nothing to load.
   */
  load(caller: Metered, now: number): Promise<void> | undefined {
    const { load } = this.#options.store
    if (load === undefined) return undefined
    const { userId, paid } = caller
    const { start } = this.#periodOf(paid, now)
    if (this.#users.has(periodId({ userId, periodStart: start }))) return undefined
    return load(userId, start).then(() => this.#loadBuckets(caller, now))
  }

  async #loadBuckets(caller: Metered, now: number): Promise<void> {
    const buckets = this.#bucketsOf(caller, now)
    await Promise.all(buckets.map(([bucket, rate]) => this.#buckets.ask(bucket, rate, 0)))
  }

  /**
   * Takes `requests` from the buckets of the caller and the user if both hold that many. Also refuses if
   * `mustAsk`: then use `takeOrAsk`.
   */
  take(caller: Metered, now: number, requests = 1): CallerState {
    return this.#take(caller, now, requests) ?? BUSY
  }

  /** Whether the store must be asked before a request of the caller can be taken or refused. */
  mustAsk(caller: Metered, now: number): boolean {
    return this.#bucketsOf(caller, now).some(([bucket, rate]) =>
      this.#buckets.mustAsk(bucket, rate, now, 1),
    )
  }

  /** Takes requests like `take`, and asks the store if it must. */
  async takeOrAsk(caller: Metered, now: number, requests = 1): Promise<CallerState> {
    const wanted = Math.min(requests, planRate(caller.plan).capacity)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const state = this.#take(caller, now, wanted)
      if (state !== null) return state
      const lacking = this.#bucketsOf(caller, now).filter(([bucket, rate]) =>
        this.#buckets.mustAsk(bucket, rate, now, wanted),
      )
      await Promise.all(lacking.map(([bucket, rate]) => this.#buckets.ask(bucket, rate, wanted)))
    }
    return BUSY
  }

  /** Takes `requests` from the buckets, in place of one request that was taken before. */
  async takeInstead(caller: Metered, now: number, requests: number): Promise<CallerState> {
    for (const [bucket] of this.#bucketsOf(caller, now)) this.#buckets.refund(bucket, now, 1)
    return this.takeOrAsk(caller, now, requests)
  }

  #bucketsOf(caller: Metered, now: number): readonly (readonly [Bucket, Rate])[] {
    const meter = this.#find(caller, now)
    const { bucket } = this.#userOf(caller, now, meter)
    return [
      [meter.bucket, planRate(caller.plan)],
      [bucket, userRate(caller.plan)],
    ]
  }

  /** null: the store must be asked first. */
  #take(caller: Metered, now: number, requests: number): CallerState | null {
    const meter = this.#find(caller, now)
    const user = this.#userOf(caller, now, meter)
    const state = this.#takeBoth(meter, caller.plan, now, requests)
    if (state?.allowed === true) this.#queue(meter, user)
    return state
  }

  #queue(meter: CallerMeter, user: UserMeter): void {
    // Buckets that nodes share are not written with the counts.
    if (!this.isShared) meter.queue()
    user.queue()
  }

  /** Returns the state of the buckets; takes nothing. */
  peek(caller: Pick<Metered, 'userId' | 'plan' | 'key'>, now: number): CallerState {
    const { userId, plan } = caller
    const id = callerId(caller)
    const bucket = this.#storedBucket(id) ?? this.#buckets.open(id, now)
    const all = this.#buckets.peek(this.#userBuckets.find(userId, now), userRate(plan), now, 1)
    return emptier(all, this.#buckets.peek(bucket, planRate(plan), now, 1))
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
    this.#userOf(caller, now, this.#find(caller, now)).count(caller, requests)
  }

  /** Counts what another thread has answered: see `openToThreads`. Writes the buckets even for 0 requests. */
  addCounted(caller: Metered, now: number, requests: number): void {
    const meter = this.#find(caller, now)
    const user = this.#userOf(caller, now, meter)
    user.addCounted(caller, requests)
    this.#queue(meter, user)
  }

  /** Lets other threads take and count requests of the caller; null: they cannot. */
  openToThreads(caller: Metered, now: number): CallerRows | null {
    const meter = this.#find(caller, now)
    const user = this.#userOf(caller, now, meter)
    const counter = user.openToThreads(caller)
    const [own, all] = [meter.bucket, user.bucket]
    if (counter === undefined || !(own instanceof ThreadBucket && all instanceof ThreadBucket)) {
      return null
    }
    return { own: own.row, all: all.row, counter, until: user.period.end }
  }

  /** Returns how many requests of the current period may be answered in full, without overages. */
  cap({ plan, paid }: Pick<Metered, 'plan' | 'paid'>, now: number): number {
    return capIn(this.#periodOf(paid, now), plan, paid?.carriedRequests)
  }

  /**
   * Reads what all nodes have counted for the user in the current period. Await it before showing or charging
   * these counts: otherwise, this node does not know of requests that reach only other nodes.
   */
  async refresh({ userId, paid }: Pick<Metered, 'userId' | 'paid'>, now: number): Promise<void> {
    const { load, readPeriod } = this.#options.store
    if (load === undefined) return
    const { start } = this.#periodOf(paid, now)
    await load(userId, start)
    // If the user has no meter here, its meter will start with these counts.
    this.#users.get(periodId({ userId, periodStart: start }))?.raise(readPeriod(userId, start))
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

  /** Tells the other nodes what this node has answered and they do not know yet. Call it before the process ends. */
  finish(): Promise<void> {
    return this.#buckets.finish()
  }

  /** Forgets callers that have been idle for longer than a bucket takes to refill. */
  async removeIdle(now: number): Promise<void> {
    const rows: (number | undefined)[] = []
    const steps = this.#removeIdle(now, rows)
    const { rowPool, store } = this.#options
    if (rowPool === undefined) await runInSlices(steps)
    else {
      // In one turn: until the release, other threads use the rows, and a caller who returns would have two buckets.
      steps.forEach(() => {})
      rowPool.release(rows.filter((row) => row !== undefined))
    }
    await store.removeBuckets(now - MINUTE_MS)
  }

  /** Other requests may open meters between two steps. `rows` gets the rows of what is forgotten. */
  *#removeIdle(now: number, rows: (number | undefined)[]): Generator<void, void> {
    for (const [id, { at }] of this.#restored) {
      if (now - at > MINUTE_MS) this.#restored.delete(id)
      yield
    }
    for (const [id, caller] of this.#callers) {
      if (this.#isIdle(caller, now)) rows.push(this.#removeCaller(id, caller))
      yield
    }
    yield* this.#removeUnusedUsers(rows)
  }

  *#removeUnusedUsers(rows: (number | undefined)[]): Generator<void, void> {
    for (const [id, user] of this.#users) {
      if (user.isWritten && user.callers === 0) rows.push(this.#removeUser(id, user))
      yield
    }
    for (const bucket of this.#userBuckets.removeUnused()) {
      if (bucket !== undefined) rows.push(rowOf(bucket))
      yield
    }
  }

  /** Unwritten meters, which can look idle after the clock was set forward, are not. */
  #isIdle({ bucket, isWritten }: CallerMeter, now: number): boolean {
    return isWritten && now - this.#buckets.usedAt(bucket) > MINUTE_MS
  }

  #removeCaller(id: string, { bucket, user }: CallerMeter): number | undefined {
    this.#callers.delete(id)
    user.callers -= 1
    return rowOf(bucket)
  }

  #removeUser(id: string, { userId, row }: UserMeter): number | undefined {
    this.#users.delete(id)
    this.#userBuckets.letGo(userId)
    return row
  }

  #find(caller: Metered, now: number): CallerMeter {
    const id = callerId(caller)
    return this.#callers.get(id) ?? this.#openCaller(id, caller, now)
  }

  #openCaller(id: string, { userId, paid }: Metered, now: number): CallerMeter {
    const user = this.#openUser(userId, this.#periodOf(paid, now), now)
    const meter = new CallerMeter(id, this.#restoreBucket(id, now), user, this.#options.write)
    this.#callers.set(id, meter)
    this.#restored.delete(id)
    return meter
  }

  #restoreBucket(id: string, now: number): Bucket {
    return this.#buckets.adopt(this.#restored.get(id) ?? this.#buckets.open(id, now))
  }

  #storedBucket(id: string): Bucket | undefined {
    return this.#callers.get(id)?.bucket ?? this.#restored.get(id)
  }

  #userOf({ userId, paid }: Metered, now: number, meter: CallerMeter): UserMeter {
    const period = this.#periodOf(paid, now)
    if (meter.user.period.start !== period.start) {
      meter.moveTo(this.#openUser(userId, period, now))
    }
    return meter.user
  }

  #periodOf(paid: SubscriptionPeriod | null, now: number): BillingPeriod {
    if (paid !== null) return paidPeriod(paid, now)
    if (!contains(this.#month, now)) this.#month = monthOf(now)
    return this.#month
  }

  #openUser(userId: string, period: BillingPeriod, now: number): UserMeter {
    const id = periodId({ userId, periodStart: period.start })
    const known = this.#users.get(id)
    if (known !== undefined) return known
    const user = new UserMeter(this.#options, userId, period, this.#userBuckets.find(userId, now))
    this.#userBuckets.hold(userId)
    this.#users.set(id, user)
    return user
  }
}
