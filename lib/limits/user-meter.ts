import type { Unwritten } from '../db/flusher.ts'
import type { MeterStore, Warned } from './meter-store.ts'
import type { Period } from './period.ts'
import type { Bucket } from './token-bucket.ts'

/** A user has reached 80 % or 100 % of the cap. */
export interface CapNotice {
  readonly userId: string
  readonly warned: Exclude<Warned, 0>
  readonly cap: number
}

/** The parts of an entitlement that decide how a request is counted. */
interface Terms {
  readonly plan: { readonly monthlyCap: number }
  /** Whether requests over the cap are charged for; null without a subscription. */
  readonly paid: { readonly overages: boolean } | null
}

/** In per cent of the cap. */
const WARNINGS = [80, 100] as const

export interface UserMeterOptions {
  readonly store: MeterStore
  /** Queues the item to be written: see `Flusher.add`. */
  readonly write: (item: Unwritten) => void
  /** Writes the notice to the audit log, in the transaction that writes the count. */
  readonly audit: (notice: CapNotice) => void
  /** Called once the notice is written. */
  readonly announce: (notice: CapNotice) => void
}

/** The bucket of all keys of a user, and the answered requests of one period, written or not. */
export class UserMeter implements Unwritten {
  readonly userId: string
  readonly period: Period
  readonly bucket: Bucket
  requests: number
  readonly #options: UserMeterOptions
  #isQueued = false
  #unwritten = 0
  /** How many of the unwritten requests are charged for. */
  #overage = 0
  #cap = Number.POSITIVE_INFINITY
  #warned: Warned
  /** The cap that `#warned` is a share of: after a change of plan, both notices are due again. */
  #warnedCap: number
  #notices: readonly CapNotice[] = []

  constructor(options: UserMeterOptions, userId: string, period: Period, bucket: Bucket) {
    const { requests, warned, warnedCap } = options.store.readPeriod(userId, period.start)
    this.userId = userId
    this.period = period
    this.bucket = bucket
    this.requests = requests
    this.#warned = warned
    this.#warnedCap = warnedCap
    this.#options = options
  }

  get isWritten(): boolean {
    return !this.#isQueued
  }

  /** Queues the bucket and the requests for the next flush. */
  queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#options.write(this)
  }

  count({ plan, paid }: Terms, requests: number): void {
    if (requests === 0) return
    this.queue()
    this.#unwritten += requests
    this.requests += requests
    this.#cap = plan.monthlyCap
    if (paid?.overages !== true) return
    this.#overage += Math.min(requests, Math.max(0, this.requests - plan.monthlyCap))
  }

  write(): void {
    const { userId, period, bucket } = this
    const { store, audit } = this.#options
    store.addUserUse({
      userId,
      periodStart: period.start,
      requests: this.#unwritten,
      overage: this.#overage,
      bucket,
    })
    this.#notices = this.#dueNotices().filter(({ warned, cap }) =>
      store.markWarned(userId, period.start, warned, cap),
    )
    for (const notice of this.#notices) audit(notice)
  }

  written(): void {
    this.#isQueued = false
    this.#unwritten = 0
    this.#overage = 0
    for (const notice of this.#notices) {
      this.#warned = notice.warned
      this.#warnedCap = notice.cap
      this.#options.announce(notice)
    }
    this.#notices = []
  }

  /** Returns both notices if the requests of one flush reach both shares. */
  #dueNotices(): CapNotice[] {
    const { userId, requests } = this
    const cap = this.#cap
    const last = cap === this.#warnedCap ? this.#warned : 0
    return WARNINGS.filter((warned) => warned > last && requests >= (cap * warned) / 100).map(
      (warned) => ({ userId, warned, cap }),
    )
  }
}
