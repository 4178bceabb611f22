import { capIn } from '../config/carried-requests.ts'
import { MINUTE_MS, SECOND_MS } from '../durations.ts'
import { inTime } from '../in-time.ts'
import { type BucketKeeper, LOCAL_BUCKETS } from './buckets/local-buckets.ts'
import { createSharedBuckets } from './buckets/shared-buckets.ts'
import type { Bucket, Rate } from './buckets/token-bucket.ts'
import type { CallerMeter } from './caller-meter.ts'
import { BUSY, type CallerState, emptier, slower } from './caller-state.ts'
import { KeptMeters } from './kept-meters.ts'
import { callerId, type Metered, planRate, userRate } from './metered.ts'
import type { Counts, UserMeterOptions } from './user-meter.ts'

/** A request asks the store at most this many times: other requests may take what was granted. */
const ATTEMPTS = 10
/** How long a request waits for the counts of its user. */
const LOAD_MS = SECOND_MS

/** The rate limits and counters of all callers, in memory: no request waits for the database. */
export class Meters {
  /** Whether nodes share the buckets, so that a request may have to wait for their store. */
  readonly isShared: boolean
  readonly #options: UserMeterOptions
  readonly #buckets: BucketKeeper
  readonly #kept: KeptMeters

  /** Loads the buckets that are not full at `now`, in epoch milliseconds. */
  constructor(options: UserMeterOptions, now: number) {
    this.#options = options
    const { shared } = options.store
    this.isShared = shared !== undefined
    this.#buckets = shared === undefined ? LOCAL_BUCKETS : createSharedBuckets(shared)
    this.#kept = new KeptMeters(options, this.#buckets, now)
  }

  /**
   * Loads what the database has about the caller, if that takes time. Await it before the other methods.
   * undefined: there is nothing to load. After a second, or if they cannot be read, the request does without the
   * counts: they are added once they are read, or with the totals of the next write.
   */
  load(caller: Metered, now: number): Promise<void> | undefined {
    const { load } = this.#options.store
    if (load === undefined) return undefined
    const { userId, paid } = caller
    const { start } = this.#kept.periodOf(paid, now)
    if (this.#kept.findUser(userId, start) !== undefined) return undefined
    const loading = load(userId, start).catch(() => {})
    const late = () => void loading.then(() => this.#raise(userId, start))
    return inTime(loading, LOAD_MS, late).then(() => this.#loadBuckets(caller, now))
  }

  /** Adds the loaded counts to those of the user's meter. Without a meter, they stay loaded: it will start with them. */
  #raise(userId: string, start: number): void {
    this.#kept.findUser(userId, start)?.raise(this.#options.store.readPeriod(userId, start))
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
    const { bucket, user } = this.#kept.open(caller, now)
    return [
      [bucket, planRate(caller.plan)],
      [user.bucket, userRate(caller.plan)],
    ]
  }

  /** null: nothing is taken, since the store must be asked first. */
  #take(caller: Metered, now: number, requests: number): CallerState | null {
    const meter = this.#kept.open(caller, now)
    const state = this.#takeBoth(meter, caller.plan, now, requests)
    if (state?.allowed === true) this.#queue(meter)
    return state
  }

  /** Takes from both buckets or from neither. */
  #takeBoth(
    { bucket: own, user: { bucket: all } }: CallerMeter,
    plan: Metered['plan'],
    now: number,
    requests: number,
  ): CallerState | null {
    const buckets = this.#buckets
    const rate = planRate(plan)
    const wanted = Math.min(requests, rate.capacity)
    const ofAll = buckets.take(all, userRate(plan), now, wanted)
    if (ofAll === null) return null
    if (!ofAll.allowed) return slower(ofAll, buckets.peek(own, rate, now, wanted))
    const ofOwn = buckets.take(own, rate, now, wanted)
    if (ofOwn?.allowed !== true) buckets.refund(all, now, wanted)
    if (ofOwn === null) return null
    return ofOwn.allowed ? emptier(ofAll, ofOwn) : { ...ofOwn, ofAllKeys: false }
  }

  #queue(meter: CallerMeter): void {
    // Buckets that nodes share are not written with the counts.
    if (!this.isShared) meter.queue()
    meter.user.queue()
  }

  /** Returns the state of the buckets; takes nothing. */
  peek(caller: Pick<Metered, 'userId' | 'plan' | 'key'>, now: number): CallerState {
    const { userId, plan } = caller
    const id = callerId(caller)
    const bucket = this.#kept.findBucket(id) ?? this.#buckets.open(id, now)
    const all = this.#buckets.peek(this.#kept.userBucket(userId, now), userRate(plan), now, 1)
    return emptier(all, this.#buckets.peek(bucket, planRate(plan), now, 1))
  }

  /** Whether the user has reached the cap of the period, and pays for no more requests. */
  isOverCap(caller: Metered, now: number): boolean {
    return this.leftToCap(caller, now) === 0
  }

  /** Returns how many more requests may be answered in full in this period. */
  leftToCap(caller: Metered, now: number): number {
    return this.#kept.open(caller, now).user.left(caller)
  }

  /** Counts answered requests; those over the cap are overages as far as the user pays for them. */
  count(caller: Metered, now: number, requests = 1): void {
    this.#kept.open(caller, now).user.count(caller, requests)
  }

  /** Returns how many requests of the current period may be answered in full, without overages. */
  cap({ plan, paid }: Pick<Metered, 'plan' | 'paid'>, now: number): number {
    return capIn(this.#kept.periodOf(paid, now), plan, paid?.carriedRequests)
  }

  /**
   * Reads what all nodes have counted for the user in the current period. Await it before showing or charging
   * these counts: otherwise, this node does not know of requests that reach only other nodes. Rejects if the
   * database cannot be read.
   */
  async refresh({ userId, paid }: Pick<Metered, 'userId' | 'paid'>, now: number): Promise<void> {
    const { load } = this.#options.store
    if (load === undefined) return
    const { start } = this.#kept.periodOf(paid, now)
    await load(userId, start)
    this.#raise(userId, start)
  }

  /** Returns the requests counted in the user's current period. */
  periodRequests(caller: Pick<Metered, 'userId' | 'paid'>, now: number): number {
    return this.periodCounts(caller, now).requests
  }

  /** Returns those requests, and how many of them are charged for. */
  periodCounts(caller: Pick<Metered, 'userId' | 'paid'>, now: number): Counts {
    const { requests, overage } = this.#kept.openUser(caller, now)
    return { requests, overage }
  }

  /** Tells the other nodes what this node has answered and they do not know yet. Call it before the process ends. */
  finish(): Promise<void> {
    return this.#buckets.finish()
  }

  /** Forgets callers that have been idle for longer than a bucket takes to refill. */
  async removeIdle(now: number): Promise<void> {
    await this.#kept.removeIdle(now)
    await this.#options.store.removeBuckets(now - MINUTE_MS)
  }
}
