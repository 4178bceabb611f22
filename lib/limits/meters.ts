import { capIn } from '../config/carried-requests.ts'
import { MINUTE_MS, SECOND_MS } from '../durations.ts'
import { inTime } from '../in-time.ts'
import { type BucketKeeper, LOCAL_BUCKETS } from './buckets/local-buckets.ts'
import { createSharedBuckets } from './buckets/shared-buckets.ts'
import { type CallerState, emptier } from './caller-state.ts'
import { KeptMeters } from './kept-meters.ts'
import { Meter } from './meter.ts'
import { callerId, type Metered, planRate, userRate } from './metered.ts'
import type { Counts, UserMeterOptions } from './user-meter.ts'

/** How long a request waits for the counts of its user. */
const LOAD_MS = SECOND_MS

/** The rate limits and counters of all callers, in memory: no request waits for the database. */
export class Meters {
  readonly #options: UserMeterOptions
  readonly #buckets: BucketKeeper
  readonly #kept: KeptMeters

  /** Loads the buckets that are not full at `now`, in epoch milliseconds. */
  constructor(options: UserMeterOptions, now: number) {
    this.#options = options
    const { shared } = options.store
    this.#buckets = shared === undefined ? LOCAL_BUCKETS : createSharedBuckets(shared)
    this.#kept = new KeptMeters(options, this.#buckets, now)
  }

  /**
   * Loads what the database has about the caller, if that takes time. Await the promise, if there is one, before
   * you call other methods. After a second, or if they cannot be read, the request does without the
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
    return inTime(loading, LOAD_MS, late).then(() => this.open(caller, now).askStore())
  }

  /** Adds the loaded counts to those of the user's meter. Without a meter, they stay loaded: it will start with them. */
  #raise(userId: string, start: number): void {
    this.#kept.findUser(userId, start)?.raise(this.#options.store.readPeriod(userId, start))
  }

  /** Opens the meter of the caller for one request. Its user counts in the current period. */
  open(caller: Metered, now: number): Meter {
    return new Meter(this.#buckets, this.#kept.open(caller, now), caller)
  }

  /** Returns the state of the buckets; takes nothing. */
  peek(caller: Pick<Metered, 'userId' | 'plan' | 'key'>, now: number): CallerState {
    const { userId, plan } = caller
    const id = callerId(caller)
    const bucket = this.#kept.findBucket(id) ?? this.#buckets.open(id, now)
    const all = this.#buckets.peek(this.#kept.userBucket(userId, now), userRate(plan), now, 1)
    return emptier(all, this.#buckets.peek(bucket, planRate(plan), now, 1))
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
