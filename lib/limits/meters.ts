import { CallerMeter, MINUTE_MS } from './caller-meter.ts'
import { contains, dayOf, monthOf, type Period, paidPeriod } from './period.ts'
import { type Bucket, giveBack, look, type Rate, type Standing, take } from './token-bucket.ts'
import { UserMeter, type UserMeterOptions } from './user-meter.ts'

/** Who is metered. */
export interface Metered {
  readonly userId: string
  readonly plan: { readonly requestsPerMinute: number; readonly monthlyCap: number }
  /** null: requests are counted by calendar month, UTC. */
  readonly paid: (Period & { readonly overages: boolean }) | null
  /** null: a session, which shares a rate limit with the other sessions of its user. */
  readonly key: { readonly id: string } | null
}

/** The rate limits and the counters of all callers, in memory: no request waits for the database. */
export class Meters {
  readonly #options: UserMeterOptions
  readonly #callers = new Map<string, CallerMeter>()
  readonly #users = new Map<string, UserMeter>()
  readonly #unwritten = new Set<CallerMeter>()
  /** Buckets of callers that have not come again since the start. */
  readonly #restored: Map<string, Bucket>
  #month = monthOf(0)

  /** Loads the buckets that are not full at `now`, in epoch milliseconds. */
  constructor(options: UserMeterOptions, now: number) {
    this.#options = options
    this.#restored = options.store.readBuckets(now - MINUTE_MS)
    // Written by a clock that was ahead: until that time it would give nothing back.
    for (const bucket of this.#restored.values()) bucket.at = Math.min(bucket.at, now)
  }

  /** Takes requests from the bucket of the caller, if there are as many. */
  take(caller: Metered, now: number, requests = 1): Standing {
    const meter = this.#find(caller, now)
    const standing = take(meter.bucket, planRate(caller.plan), now, requests)
    if (standing.allowed) meter.change()
    return standing
  }

  /** Takes `requests` from the bucket in place of the one that was taken before. */
  takeInstead(caller: Metered, now: number, requests: number): Standing {
    giveBack(this.#find(caller, now).bucket)
    return this.take(caller, now, requests)
  }

  /** What is left to the key, without taking. */
  look(keyId: string, plan: Metered['plan'], now: number): Standing {
    const bucket = this.#callers.get(keyId)?.bucket ?? this.#restored.get(keyId)
    return look(bucket ?? { spent: 0, at: now }, planRate(plan), now)
  }

  /** Whether the user has used up the cap of the period, and does not pay for what is over it. */
  isOverCap(caller: Metered, now: number): boolean {
    return this.leftToCap(caller, now) === 0
  }

  /** How many requests may be answered in full in the period. */
  leftToCap(caller: Metered, now: number): number {
    if (caller.paid?.overages === true) return Number.POSITIVE_INFINITY
    const { requests } = this.#userOf(caller, now, this.#find(caller, now))
    return Math.max(0, caller.plan.monthlyCap - requests)
  }

  /** Counts answered requests, those over the cap for a fee where the user pays for that. */
  count(caller: Metered, now: number, requests = 1): void {
    const meter = this.#find(caller, now)
    meter.count(requests)
    this.#userOf(caller, now, meter).count(caller, requests)
  }

  /** Counted requests of the user's current period. */
  periodRequests({ userId, paid }: Pick<Metered, 'userId' | 'paid'>, now: number): number {
    return this.#openUser(userId, this.#periodOf(paid, now)).requests
  }

  /** Counted requests of the user since `fromDay`, by day: those in the database and the others. */
  requestsByDay(userId: string, fromDay: number): ReadonlyMap<number, number> {
    const written = this.#options.store.readDays(userId, fromDay)
    const days = new Map(written.map(({ day, requests }) => [day, requests]))
    for (const meter of this.#unwritten) {
      if (meter.userId !== userId || meter.day < fromDay || meter.requests === 0) continue
      days.set(meter.day, (days.get(meter.day) ?? 0) + meter.requests)
    }
    return days
  }

  /** Forgets callers that have not asked for longer than a bucket needs to fill. */
  removeIdle(now: number): void {
    for (const [id, { at }] of this.#restored) {
      if (now - at > MINUTE_MS) this.#restored.delete(id)
    }
    this.#options.store.removeBuckets(now - MINUTE_MS)
    this.#removeIdleCallers(now)
    this.#removeUnusedUsers()
  }

  /** What is not written yet is still needed, also where the clock was set back and forth. */
  #removeIdleCallers(now: number): void {
    const unwritten = new Set([...this.#unwritten].map(({ bucket }) => bucket))
    for (const [id, { bucket }] of this.#callers) {
      if (now - bucket.at > MINUTE_MS && !unwritten.has(bucket)) this.#callers.delete(id)
    }
  }

  #removeUnusedUsers(): void {
    const used = new Set([...this.#callers.values()].map(({ user }) => user))
    for (const [id, user] of this.#users) {
      if (user.isWritten && !used.has(user)) this.#users.delete(id)
    }
  }

  /** A meter is for one day; that of the day before is forgotten once it is written. */
  #find(caller: Metered, now: number): CallerMeter {
    const id = caller.key === null ? `user:${caller.userId}` : caller.key.id
    const meter = this.#callers.get(id)
    return meter?.day === dayOf(now) ? meter : this.#openCaller(id, caller, now)
  }

  #openCaller(id: string, { userId, key, paid }: Metered, now: number): CallerMeter {
    const meter = new CallerMeter(this.#options, {
      id,
      userId,
      keyId: key?.id ?? '',
      day: dayOf(now),
      bucket: this.#callers.get(id)?.bucket ?? this.#restored.get(id) ?? { spent: 0, at: now },
      user: this.#openUser(userId, this.#periodOf(paid, now)),
      unwritten: this.#unwritten,
    })
    this.#callers.set(id, meter)
    this.#restored.delete(id)
    return meter
  }

  #userOf({ paid }: Metered, now: number, meter: CallerMeter): UserMeter {
    const period = this.#periodOf(paid, now)
    if (meter.user.period.start !== period.start) meter.user = this.#openUser(meter.userId, period)
    return meter.user
  }

  #periodOf(paid: Period | null, now: number): Period {
    if (paid !== null) return paidPeriod(paid, now)
    if (!contains(this.#month, now)) this.#month = monthOf(now)
    return this.#month
  }

  #openUser(userId: string, period: Period): UserMeter {
    const id = `${period.start} ${userId}`
    const known = this.#users.get(id)
    if (known !== undefined) return known
    const user = new UserMeter(this.#options, userId, period)
    this.#users.set(id, user)
    return user
  }
}

/** The requests of a plan as a bucket. */
export function planRate({ requestsPerMinute }: Metered['plan']): Rate {
  return { capacity: requestsPerMinute, windowMs: MINUTE_MS }
}
