import assert from 'node:assert/strict'
import { toCapShares } from '../../../lib/contract/account/cap-shares.ts'
import type { Metered } from '../../../lib/limits/meter.ts'
import { NOON } from '../../support/helpers.ts'

const PARTS = 60_000

/** With so few keys, the bucket of all keys is often empty before those of the callers. */
export const PLANS = [
  { requestsPerMinute: 3, maxKeys: 2, monthlyCap: 5 },
  { requestsPerMinute: 7, maxKeys: 1, monthlyCap: 20 },
  { requestsPerMinute: 100, maxKeys: 1, monthlyCap: 1_000 },
] as const

interface ModelBucket {
  readonly spent: number
  readonly at: number
}

/** What is stored in memory, or in the database. */
interface MeterState {
  buckets: Map<string, ModelBucket>
  /** Of all keys of a user: by user in memory, by period in the database. */
  userBuckets: Map<string, ModelBucket>
  /** By user and the start of the period. */
  periods: Map<string, number>
  /** Requests over the cap that are charged for. */
  overages: Map<string, number>
}

/** A simple model of the meters. */
export class Model {
  now = NOON
  startedAt = NOON
  plans = new Map<string, number>()
  /** Users with a subscription, as far as Stripe has reported. */
  paid = new Map<string, Exclude<Metered['paid'], null>>()
  memory: MeterState = emptyState()
  disk: MeterState = emptyState()
  /** Callers with a meter in memory. Only asking about a caller opens one. */
  opened = new Set<string>()
  /** Callers with an allowed request since the last flush: refused requests alone are not written. */
  changed = new Set<string>()
  /** The capacity of each caller's bucket when requests were last taken from it. */
  readonly capacities = new Map<string, number>()
  /** The same for the bucket of all keys: the periods of those requests. */
  changedPeriods = new Set<string>()
  /** User and level of each notice that was written. */
  readonly notices: string[] = []
  /** The last notice of each period. */
  readonly latestNotices = new Map<string, { readonly cap: number; readonly level: number }>()
  /** The largest spending cap, in units, that was announced in each period. */
  readonly announcedUnits = new Map<string, number>()
  /** By user and period: the limits at the last counted request since the last flush. */
  limits = new Map<string, { readonly cap: number; readonly maxUnits: number }>()

  caller(name: string): Metered {
    const [userId = '', keyId] = name.split('/')
    const plan = PLANS[this.plans.get(userId) ?? 0] ?? PLANS[0]
    const paid = this.paid.get(userId) ?? null
    return {
      userId,
      plan,
      paid,
      capShares: toCapShares(null),
      key: keyId === undefined ? null : { id: keyId },
    }
  }

  /** Asking about a caller opens its meter. */
  open(name: string): void {
    const { userId } = this.caller(name)
    this.openUser(userId)
    this.opened.add(name)
    if (!this.memory.buckets.has(name)) this.memory.buckets.set(name, { spent: 0, at: this.now })
  }

  /**
   * Within a minute after the start, the bucket of all keys comes from the latest period that was written less
   * than a minute ago.
   */
  openUser(userId: string): void {
    if (this.memory.userBuckets.has(userId)) return
    const stored = this.now <= this.startedAt + 60_000 ? [...this.disk.userBuckets] : []
    const [latest = { spent: 0, at: this.now }] = stored
      .filter(([period, { at }]) => period.startsWith(`${userId} `) && at >= this.now - 60_000)
      .map(([, bucket]) => bucket)
      .sort((one, other) => other.at - one.at || other.spent - one.spent)
    this.memory.userBuckets.set(userId, { ...latest, at: Math.min(latest.at, this.now) })
  }

  /** Takes requests from both buckets if both hold them. Only the buckets that are asked are refilled. */
  take(name: string, requests = 1): boolean {
    const { userId, plan } = this.caller(name)
    this.open(name)
    const { requestsPerMinute, maxKeys } = plan
    this.capacities.set(name, requestsPerMinute)
    const parts = Math.min(requests, requestsPerMinute) * PARTS
    const ofAll = this.refilled(this.memory.userBuckets.get(userId), requestsPerMinute * maxKeys)
    this.memory.userBuckets.set(userId, ofAll)
    if (ofAll.spent + parts > requestsPerMinute * maxKeys * PARTS) return false
    const own = this.refilled(this.memory.buckets.get(name), requestsPerMinute)
    this.memory.buckets.set(name, own)
    if (own.spent + parts > requestsPerMinute * PARTS) return false
    this.memory.userBuckets.set(userId, { ...ofAll, spent: ofAll.spent + parts })
    this.memory.buckets.set(name, { ...own, spent: own.spent + parts })
    this.changed.add(name)
    this.changedPeriods.add(this.periodOf(userId))
    return true
  }

  /** Takes requests in place of the one that was taken just before. */
  takeInstead(name: string, requests: number): boolean {
    const { userId } = this.caller(name)
    refund(this.memory.buckets, name)
    refund(this.memory.userBuckets, userId)
    return this.take(name, requests)
  }

  /** The whole requests left in the bucket of the caller, and in that of all keys. */
  left(name: string): { own: number; all: number } {
    const { userId, plan } = this.caller(name)
    const left = (bucket: ModelBucket | undefined, capacity: number) =>
      Math.floor(capacity - this.refilled(bucket, capacity).spent / PARTS)
    return {
      own: left(this.memory.buckets.get(name), plan.requestsPerMinute),
      all: left(this.memory.userBuckets.get(userId), plan.requestsPerMinute * plan.maxKeys),
    }
  }

  refilled(bucket: ModelBucket | undefined, capacity: number): ModelBucket {
    const { spent, at } = bucket ?? { spent: 0, at: this.now }
    const elapsed = Math.max(0, this.now - at)
    const left = Math.max(0, Math.min(spent, capacity * PARTS) - elapsed * capacity)
    return { spent: left, at: this.now }
  }

  count(name: string): void {
    const { userId, plan, paid } = this.caller(name)
    const period = this.periodOf(userId)
    add(this.memory.periods, period)
    const isOver = (this.memory.periods.get(period) ?? 0) > plan.monthlyCap
    const maxUnits = paid?.overages?.maxUnits ?? 0
    const units = this.memory.overages.get(period) ?? 0
    if (isOver && units < maxUnits) add(this.memory.overages, period)
    this.limits.set(period, { cap: plan.monthlyCap, maxUnits })
  }

  /** Whether the next request is reduced: neither the plan nor the spending cap pays for it. */
  isReduced(name: string): boolean {
    const { userId, plan, paid } = this.caller(name)
    const period = this.periodOf(userId)
    if ((this.memory.periods.get(period) ?? 0) < plan.monthlyCap) return false
    return (this.memory.overages.get(period) ?? 0) >= (paid?.overages?.maxUnits ?? 0)
  }

  requests(userId: string): number {
    return this.memory.periods.get(this.periodOf(userId)) ?? 0
  }

  /** Periods of the same length follow each other until Stripe reports the next one. */
  periodOf(userId: string): string {
    const paid = this.paid.get(userId)
    if (paid === undefined) return `${userId} ${monthOf(this.now)}`
    let { start } = paid
    while (start + paid.end - paid.start <= this.now) start += paid.end - paid.start
    return `${userId} ${start}`
  }

  flush(): void {
    const { buckets, userBuckets } = this.disk
    this.disk = { ...copy(this.memory), buckets, userBuckets }
    const { memory } = this
    for (const name of this.changed) {
      const bucket = getBucket(memory.buckets, name)
      const isFull = this.refilled(bucket, this.capacities.get(name) ?? 0).spent === 0
      if (!isFull) buckets.set(name, bucket)
    }
    for (const period of this.changedPeriods) {
      userBuckets.set(period, getBucket(memory.userBuckets, userOf(period)))
    }
    this.changed.clear()
    this.changedPeriods.clear()
    for (const [period, { cap, maxUnits }] of this.limits) {
      this.announce(period, cap)
      this.announceSpending(period, maxUnits)
    }
    this.limits.clear()
  }

  announceSpending(period: string, maxUnits: number): void {
    const units = this.memory.overages.get(period) ?? 0
    if (maxUnits <= (this.announcedUnits.get(period) ?? 0) || units < maxUnits) return
    this.announcedUnits.set(period, maxUnits)
    this.notices.push(`${period.split(' ')[0]} reach_spending_cap`)
  }

  announce(period: string, cap: number): void {
    const requests = this.memory.periods.get(period) ?? 0
    for (const level of [80, 100]) {
      const latest = this.latestNotices.get(period)
      const isKnown = latest?.cap === cap && latest.level >= level
      if (isKnown || requests < (level * cap) / 100) continue
      this.latestNotices.set(period, { cap, level })
      this.notices.push(`${period.split(' ')[0]} ${level === 80 ? 'near_cap' : 'reach_cap'}`)
    }
  }

  /** A crash loses everything unwritten; refused requests alone do not change a stored bucket. */
  crash(): void {
    this.memory = { ...copy(this.disk), userBuckets: new Map() }
    this.limits.clear()
    this.changed.clear()
    this.changedPeriods.clear()
    this.opened.clear()
    this.restart()
  }

  restart(): void {
    this.startedAt = this.now
    for (const [name, { spent, at }] of this.memory.buckets) {
      if (at < this.now - 60_000) this.memory.buckets.delete(name)
      else this.memory.buckets.set(name, { spent, at: Math.min(at, this.now) })
    }
  }

  /** Removes idle meters from disk and memory, but keeps unwritten ones. */
  removeIdle(): void {
    const isIdle = ({ at }: ModelBucket) => this.now - at > 60_000
    for (const [name, bucket] of this.disk.buckets) {
      if (isIdle(bucket)) this.disk.buckets.delete(name)
    }
    for (const [name, bucket] of this.memory.buckets) {
      if (!isIdle(bucket) || this.changed.has(name)) continue
      this.memory.buckets.delete(name)
      this.opened.delete(name)
    }
    const kept = new Set([...this.opened, ...this.changed].map((name) => this.caller(name).userId))
    for (const userId of this.memory.userBuckets.keys()) {
      if (!kept.has(userId)) this.memory.userBuckets.delete(userId)
    }
  }
}

function emptyState(): MeterState {
  return { buckets: new Map(), userBuckets: new Map(), periods: new Map(), overages: new Map() }
}

function copy({ buckets, userBuckets, periods, overages }: MeterState): MeterState {
  return {
    buckets: new Map(buckets),
    userBuckets: new Map(userBuckets),
    periods: new Map(periods),
    overages: new Map(overages),
  }
}

function userOf(period: string): string {
  return period.slice(0, period.indexOf(' '))
}

function getBucket(buckets: ReadonlyMap<string, ModelBucket>, id: string): ModelBucket {
  return buckets.get(id) ?? assert.fail(`Unknown bucket ${id}`)
}

function refund(buckets: Map<string, ModelBucket>, id: string): void {
  const { spent, at } = getBucket(buckets, id)
  buckets.set(id, { spent: Math.max(0, spent - PARTS), at })
}

function add(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1)
}

function monthOf(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}
