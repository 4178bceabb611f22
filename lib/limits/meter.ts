import type { SubscriptionPeriod } from '../config/period.ts'
import type { CapShare } from '../contract/account/cap-shares.ts'
import { type LedgerTable, Line, type LineKind } from '../db/ledger/table.ts'
import { MINUTE_MS } from '../parts/durations.ts'
import type { BucketStrategy } from './buckets/local-buckets.ts'
import { type Bucket, type BucketState, type Rate, spentAt } from './buckets/token-bucket.ts'
import type { Paid, UserPeriod } from './user-period.ts'

/** A caller whose requests are limited and counted. */
export interface Metered {
  readonly userId: string
  readonly capShares: readonly CapShare[]
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

/** For a request that has waited in vain, because others took what was granted. */
const BUSY: CallerState = { allowed: false, remaining: 0, resetSeconds: 1, ofAllKeys: false }

/**
 * How the buckets of callers are written. Those that are full again by `now()` are not: an older row, too, says that
 * they are full.
 */
export function callerLines(now: () => number): LineKind<KnownCaller> {
  return {
    sums: 0,
    toPending: (rows) => {
      const at = now()
      const spent = rows.where(({ bucket, plan }) => spentAt(bucket, planRate(plan), at) > 0)
      return {
        buckets: {
          id: spent.lines.map(({ id }) => id),
          spent: spent.numbers(({ bucket }) => bucket.spent),
          at: spent.numbers(({ bucket }) => bucket.at),
        },
      }
    },
  }
}

/** A caller with its bucket, which counts in a period of its user. */
export class KnownCaller extends Line {
  readonly id: string
  readonly bucket: Bucket
  /** The plan with which requests were last taken. */
  plan: Metered['plan']
  #period: UserPeriod

  constructor(
    { id, bucket, plan }: Pick<KnownCaller, 'id' | 'bucket' | 'plan'>,
    period: UserPeriod,
  ) {
    super(id)
    this.id = id
    this.bucket = bucket
    this.plan = plan
    this.#period = period
    period.callers += 1
  }

  get period(): UserPeriod {
    return this.#period
  }

  /** Counts from now on in another period. */
  moveTo(period: UserPeriod): void {
    this.#period.callers -= 1
    this.#period = period
    period.callers += 1
  }
}

/** What all meters share. */
export interface MeterParts {
  readonly buckets: BucketStrategy
  readonly callers: LedgerTable<KnownCaller>
  readonly periods: LedgerTable<UserPeriod>
}

/** A request asks the store at most ten times, because others may take what it was granted. */
const ATTEMPTS = 10

/** The limits and counts of one request, which counts in the period in which it was opened. */
export class Meter {
  /** How many look-ups of the request were counted. */
  counted = 0
  readonly #parts: MeterParts
  readonly #caller: KnownCaller
  /** The one that the caller had at first: a request that begins later may move it to the next period. */
  readonly #period: UserPeriod
  readonly #terms: Metered

  /** `terms` are the plan and the subscription with which the request began. */
  constructor(parts: MeterParts, caller: KnownCaller, terms: Metered) {
    this.#parts = parts
    this.#caller = caller
    this.#period = caller.period
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
    const { buckets } = this.#parts
    return buckets.isShared && this.#all().some(([one, rate]) => buckets.mustAsk(one, rate, now, 1))
  }

  /** Takes requests like `take`, and asks the store if it must. */
  async takeOrAsk(now: number, requests = 1): Promise<CallerState> {
    const wanted = Math.min(requests, planRate(this.#terms.plan).capacity)
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const state = this.#take(now, wanted)
      if (state !== null) return state
      const lacking = this.#all().filter(([bucket, rate]) =>
        this.#parts.buckets.mustAsk(bucket, rate, now, wanted),
      )
      await Promise.all(
        lacking.map(([bucket, rate]) => this.#parts.buckets.ask(bucket, rate, wanted)),
      )
    }
    return BUSY
  }

  /** Takes `requests` from the buckets, in place of one request that was taken before. */
  async takeInstead(now: number, requests: number): Promise<CallerState> {
    for (const [bucket] of this.#all()) this.#parts.buckets.refund(bucket, now, 1)
    return this.takeOrAsk(now, requests)
  }

  /** Asks the store how many requests the buckets hold, if nodes share them. */
  async askStore(): Promise<void> {
    await Promise.all(this.#all().map(([bucket, rate]) => this.#parts.buckets.ask(bucket, rate, 0)))
  }

  /** Whether the user has reached the cap of the period, and pays for no more requests. */
  isOverCap(): boolean {
    return this.left() === 0
  }

  /** Returns how many more requests may be answered in full in this period. */
  left(): number {
    return this.#period.left(this.#terms)
  }

  /** Counts answered requests; those over the cap are overages as far as the user pays for them. */
  count(requests = 1): void {
    this.#period.count(this.#terms, requests)
    this.counted += requests
  }

  #all(): readonly (readonly [Bucket, Rate])[] {
    const { plan } = this.#terms
    return [
      [this.#caller.bucket, planRate(plan)],
      [this.#period.bucket, userRate(plan)],
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
    const { buckets } = this.#parts
    const { bucket: own } = this.#caller
    const { bucket: all } = this.#period
    const { plan } = this.#terms
    const rate = planRate(plan)
    this.#caller.plan = plan
    const wanted = Math.min(requests, rate.capacity)
    const ofAll = buckets.take(all, userRate(plan), now, wanted)
    if (ofAll === null) return null
    if (!ofAll.allowed) return withLongerWait(ofAll, buckets.peek(own, rate, now, wanted))
    const ofOwn = buckets.take(own, rate, now, wanted)
    if (ofOwn?.allowed !== true) buckets.refund(all, now, wanted)
    if (ofOwn === null) return null
    return ofOwn.allowed ? withFewerLeft(ofAll, ofOwn) : { ...ofOwn, ofAllKeys: false }
  }

  #queue(): void {
    const { buckets, callers, periods } = this.#parts
    // Buckets that nodes share are not written with the counts.
    if (!buckets.isShared) callers.touch(this.#caller)
    periods.touch(this.#period)
  }
}

/** The state of the bucket that holds fewer requests. */
export function withFewerLeft(all: BucketState, own: BucketState): CallerState {
  return all.remaining < own.remaining ? { ...all, ofAllKeys: true } : { ...own, ofAllKeys: false }
}

/** The state to report if the bucket of all keys refuses: that of the bucket that takes longer to refill. */
function withLongerWait(all: BucketState, own: BucketState): CallerState {
  if (own.allowed || own.resetSeconds < all.resetSeconds) return { ...all, ofAllKeys: true }
  return { ...own, ofAllKeys: false }
}

/** The id of the caller's bucket. */
export function callerId({ userId, key }: Pick<Metered, 'userId' | 'key'>): string {
  return key === null ? `user:${userId}` : key.id
}

/** The size and refill rate of a caller's bucket. */
export function planRate({ requestsPerMinute }: Metered['plan']): Rate {
  return { capacity: requestsPerMinute, windowMs: MINUTE_MS }
}

/** The same for all keys of a user together, so that replacing keys does not give more requests. */
export function userRate({ requestsPerMinute, maxKeys }: Metered['plan']): Rate {
  return { capacity: requestsPerMinute * Math.max(1, maxKeys), windowMs: MINUTE_MS }
}
