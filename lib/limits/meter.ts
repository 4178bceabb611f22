import type { BucketKeeper } from './buckets/local-buckets.ts'
import type { Bucket, Rate } from './buckets/token-bucket.ts'
import type { CallerMeter } from './caller-meter.ts'
import { BUSY, type CallerState, emptier, slower } from './caller-state.ts'
import { type Metered, planRate, userRate } from './metered.ts'
import type { UserMeter } from './user-meter.ts'

/** A request asks the store at most ten times, because others may take what it was granted. */
const ATTEMPTS = 10

/** The limits and counts of one request, which counts in the period in which it was opened. */
export class Meter {
  /** How many look-ups of the request were counted. */
  counted = 0
  readonly #buckets: BucketKeeper
  readonly #caller: CallerMeter
  /** The one that the caller had at first: a request that begins later may move it to the next period. */
  readonly #user: UserMeter
  readonly #terms: Metered

  /** `terms` are the plan and the subscription with which the request began. */
  constructor(buckets: BucketKeeper, caller: CallerMeter, terms: Metered) {
    this.#buckets = buckets
    this.#caller = caller
    this.#user = caller.user
    this.#terms = terms
  }

  /**
   * Takes `requests` from the buckets of the caller and the user if both hold that many. Also refuses if
   * `mustAsk`: then use `takeOrAsk`.
   */
  take(now: number, requests = 1): CallerState {
    return this.#take(now, requests) ?? BUSY
  }

  /** Whether the store must be asked before a request can be taken or refused. */
  mustAsk(now: number): boolean {
    const buckets = this.#buckets
    return buckets.isShared && this.#all().some(([one, rate]) => buckets.mustAsk(one, rate, now, 1))
  }

  /** Takes requests like `take`, and asks the store if it must. */
  async takeOrAsk(now: number, requests = 1): Promise<CallerState> {
    const wanted = Math.min(requests, planRate(this.#terms.plan).capacity)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const state = this.#take(now, wanted)
      if (state !== null) return state
      const lacking = this.#all().filter(([bucket, rate]) =>
        this.#buckets.mustAsk(bucket, rate, now, wanted),
      )
      await Promise.all(lacking.map(([bucket, rate]) => this.#buckets.ask(bucket, rate, wanted)))
    }
    return BUSY
  }

  /** Takes `requests` from the buckets, in place of one request that was taken before. */
  async takeInstead(now: number, requests: number): Promise<CallerState> {
    for (const [bucket] of this.#all()) this.#buckets.refund(bucket, now, 1)
    return this.takeOrAsk(now, requests)
  }

  /** Asks the store how many requests the buckets hold, if nodes share them. */
  async askStore(): Promise<void> {
    await Promise.all(this.#all().map(([bucket, rate]) => this.#buckets.ask(bucket, rate, 0)))
  }

  /** Whether the user has reached the cap of the period, and pays for no more requests. */
  isOverCap(): boolean {
    return this.left() === 0
  }

  /** Returns how many more requests may be answered in full in this period. */
  left(): number {
    return this.#user.left(this.#terms)
  }

  /** Counts answered requests; those over the cap are overages as far as the user pays for them. */
  count(requests = 1): void {
    this.#user.count(this.#terms, requests)
    this.counted += requests
  }

  #all(): readonly (readonly [Bucket, Rate])[] {
    const { plan } = this.#terms
    return [
      [this.#caller.bucket, planRate(plan)],
      [this.#user.bucket, userRate(plan)],
    ]
  }

  /** null: nothing is taken, since the store must be asked first. */
  #take(now: number, requests: number): CallerState | null {
    const state = this.#takeFromKeyAndUser(now, requests)
    if (state?.allowed === true) this.#queue()
    return state
  }

  /** Takes from both buckets or from neither. */
  #takeFromKeyAndUser(now: number, requests: number): CallerState | null {
    const buckets = this.#buckets
    const { bucket: own } = this.#caller
    const { bucket: all } = this.#user
    const rate = planRate(this.#terms.plan)
    const wanted = Math.min(requests, rate.capacity)
    const ofAll = buckets.take(all, userRate(this.#terms.plan), now, wanted)
    if (ofAll === null) return null
    if (!ofAll.allowed) return slower(ofAll, buckets.peek(own, rate, now, wanted))
    const ofOwn = buckets.take(own, rate, now, wanted)
    if (ofOwn?.allowed !== true) buckets.refund(all, now, wanted)
    if (ofOwn === null) return null
    return ofOwn.allowed ? emptier(ofAll, ofOwn) : { ...ofOwn, ofAllKeys: false }
  }

  #queue(): void {
    // Buckets that nodes share are not written with the counts.
    if (!this.#buckets.isShared) this.#caller.queue()
    this.#user.queue()
  }
}
