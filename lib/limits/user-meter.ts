import type { Query } from '../db/engine.ts'
import type { Unwritten } from '../db/use-flusher.ts'
import type { CapNotice, DueNotice, Uses, Warned } from '../db/uses.ts'
import type { MeterStore } from './meter-store.ts'
import type { Period } from './period.ts'
import type { Bucket } from './token-bucket.ts'

/** The parts of an entitlement that decide how a request is counted. */
interface Terms {
  readonly plan: { readonly monthlyCap: number }
  /** Whether requests over the cap are charged for; null without a subscription. */
  readonly paid: { readonly overages: boolean } | null
}

interface Counts {
  readonly requests: number
  /** How many of them are charged for. */
  readonly overage: number
}

const NONE: Counts = { requests: 0, overage: 0 }

/** In per cent of the cap. */
const WARNINGS = [80, 100] as const

export interface UserMeterOptions {
  readonly store: MeterStore
  /** Queues the item to be written: see `UseFlusher.add`. */
  readonly write: (item: Unwritten) => void
  /** The statement that adds the notice to the audit log, in the transaction that writes the count. */
  readonly audit: (notice: CapNotice) => Query
}

/** The bucket of all keys of a user, and the answered requests of one period, written or not. */
export class UserMeter implements Unwritten {
  readonly userId: string
  readonly period: Period
  readonly bucket: Bucket
  requests: number
  readonly #options: UserMeterOptions
  #isQueued = false
  /** Requests that are neither written nor being written, and how many of them are charged for. */
  #unwritten: Counts = NONE
  /** Those that are being written; null: none are. */
  #inFlight: Counts | null = null
  #cap = Number.POSITIVE_INFINITY
  #warned: Warned
  /** The cap that `#warned` is a share of: after a change of plan, both notices are due again. */
  #warnedCap: number
  /** Notices that are being written. */
  #notices: readonly DueNotice[] = []

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
    return !this.#isQueued && this.#inFlight === null
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
    this.requests += requests
    this.#cap = plan.monthlyCap
    const over = Math.min(requests, Math.max(0, this.requests - plan.monthlyCap))
    const overage = paid?.overages === true ? over : 0
    this.#unwritten = sum(this.#unwritten, { requests, overage })
  }

  collect({ users }: Uses): void {
    const { userId, period } = this
    const { spent, at } = this.bucket
    this.#inFlight = this.#unwritten
    this.#unwritten = NONE
    this.#isQueued = false
    this.#notices = this.#dueNotices()
    const counts = { ...this.#inFlight, bucket: { spent, at }, notices: this.#notices }
    users.push({ userId, periodStart: period.start, ...counts })
  }

  written(): void {
    this.#inFlight = null
    const last = this.#notices.at(-1)
    if (last === undefined) return
    this.#warned = last.warned
    this.#warnedCap = last.cap
  }

  notWritten(): void {
    this.#unwritten = sum(this.#unwritten, this.#inFlight ?? NONE)
    this.#inFlight = null
    this.queue()
  }

  /** Returns both notices if the requests of one flush reach both shares. */
  #dueNotices(): DueNotice[] {
    const { userId, requests } = this
    const cap = this.#cap
    const last = cap === this.#warnedCap ? this.#warned : 0
    return WARNINGS.filter((warned) => warned > last && requests >= (cap * warned) / 100).map(
      (warned) => {
        const notice = { userId, warned, cap }
        return { ...notice, audit: this.#options.audit(notice) }
      },
    )
  }
}

function sum(a: Counts, b: Counts): Counts {
  return { requests: a.requests + b.requests, overage: a.overage + b.overage }
}
