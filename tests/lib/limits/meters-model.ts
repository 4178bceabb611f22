import type { Metered } from '../../../lib/limits/meters.ts'
import { NOON } from '../../helpers.ts'

const PARTS = 60_000
export const DAY_MS = 86_400_000

export const PLANS = [
  { requestsPerMinute: 3, monthlyCap: 5 },
  { requestsPerMinute: 7, monthlyCap: 20 },
  { requestsPerMinute: 100, monthlyCap: 1_000 },
] as const

interface ModelBucket {
  readonly spent: number
  readonly at: number
}

/** What is kept in a place: in memory, or in the database. */
interface Kept {
  buckets: Map<string, ModelBucket>
  /** By user and the start of the period. */
  periods: Map<string, number>
  /** Those over the cap that are charged for. */
  overages: Map<string, number>
  /** By user and day. */
  days: Map<string, number>
}

/** What meters are to do, in plain words. */
export class Model {
  now = NOON
  plans = new Map<string, number>()
  /** Users that pay, as far as the payment processor has told. */
  paid = new Map<string, Exclude<Metered['paid'], null>>()
  memory: Kept = emptyKept()
  disk: Kept = emptyKept()
  /** Callers that were answered since the last flush: a refusal alone is not written. */
  changed = new Set<string>()
  /** User and level of each notice that was written. */
  readonly notices: string[] = []
  /** What was last told of a period. */
  readonly told = new Map<string, { readonly cap: number; readonly level: number }>()
  /** Cap that was last in force when the user was counted in the month, since the last flush. */
  caps = new Map<string, number>()

  caller(name: string): Metered {
    const [userId = '', keyId] = name.split('/')
    const plan = PLANS[this.plans.get(userId) ?? 0] ?? PLANS[0]
    const paid = this.paid.get(userId) ?? null
    return { userId, plan, paid, key: keyId === undefined ? null : { id: keyId } }
  }

  take(name: string): boolean {
    const capacity = this.caller(name).plan.requestsPerMinute
    const { spent, at } = this.memory.buckets.get(name) ?? { spent: 0, at: this.now }
    const elapsed = Math.max(0, this.now - at)
    const left = Math.max(0, Math.min(spent, capacity * PARTS) - elapsed * capacity)
    const allowed = left + PARTS <= capacity * PARTS
    this.memory.buckets.set(name, { spent: allowed ? left + PARTS : left, at: this.now })
    if (allowed) this.changed.add(name)
    return allowed
  }

  count(name: string): void {
    const { userId, plan, paid } = this.caller(name)
    const period = this.periodOf(userId)
    add(this.memory.periods, period)
    const isOver = (this.memory.periods.get(period) ?? 0) > plan.monthlyCap
    if (isOver && paid?.overages === true) add(this.memory.overages, period)
    add(this.memory.days, `${userId} ${Math.floor(this.now / DAY_MS)}`)
    this.caps.set(period, plan.monthlyCap)
  }

  requests(userId: string): number {
    return this.memory.periods.get(this.periodOf(userId)) ?? 0
  }

  /** One period follows another of the same length, until the next subscription is told of. */
  periodOf(userId: string): string {
    const paid = this.paid.get(userId)
    if (paid === undefined) return `${userId} ${monthOf(this.now)}`
    let { start } = paid
    while (start + paid.end - paid.start <= this.now) start += paid.end - paid.start
    return `${userId} ${start}`
  }

  flush(): void {
    this.disk = { ...copy(this.memory), buckets: this.disk.buckets }
    for (const name of this.changed) {
      const bucket = this.memory.buckets.get(name)
      if (bucket !== undefined) this.disk.buckets.set(name, bucket)
    }
    this.changed.clear()
    for (const [period, cap] of this.caps) this.tell(period, cap)
    this.caps.clear()
  }

  tell(period: string, cap: number): void {
    const requests = this.memory.periods.get(period) ?? 0
    for (const level of [80, 100]) {
      const told = this.told.get(period)
      const wasTold = told?.cap === cap && told.level >= level
      if (wasTold || requests < (level * cap) / 100) continue
      this.told.set(period, { cap, level })
      this.notices.push(`${period.split(' ')[0]} ${level}`)
    }
  }

  /** A crash forgets what is not written; a bucket whose last change was a refusal is as it was. */
  crash(): void {
    this.memory = copy(this.disk)
    this.caps.clear()
    this.changed.clear()
    this.restart()
  }

  restart(): void {
    for (const [name, { spent, at }] of this.memory.buckets) {
      if (at < this.now - 60_000) this.memory.buckets.delete(name)
      else this.memory.buckets.set(name, { spent, at: Math.min(at, this.now) })
    }
  }

  /** What is not written yet is kept. */
  removeIdle(): void {
    const isIdle = ({ at }: ModelBucket) => this.now - at > 60_000
    for (const [name, bucket] of this.disk.buckets) {
      if (isIdle(bucket)) this.disk.buckets.delete(name)
    }
    for (const [name, bucket] of this.memory.buckets) {
      if (isIdle(bucket) && !this.changed.has(name)) this.memory.buckets.delete(name)
    }
  }
}

function emptyKept(): Kept {
  return { buckets: new Map(), periods: new Map(), overages: new Map(), days: new Map() }
}

function copy({ buckets, periods, overages, days }: Kept): Kept {
  return {
    buckets: new Map(buckets),
    periods: new Map(periods),
    overages: new Map(overages),
    days: new Map(days),
  }
}

function add(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1)
}

function monthOf(now: number): number {
  const date = new Date(now)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}
