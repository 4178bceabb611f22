import { type CarriedRequests, capIn } from '../config/carried-requests.ts'
import type { BillingPeriod } from '../config/period.ts'
import type { Query } from '../db/engine.ts'
import { periodId, type Totals, tablePageOf, type Unwritten } from '../db/use-flusher.ts'
import type { CapNotice, DueNotice, Spending, Uses, Warned } from '../db/uses.ts'
import type { Bucket } from './buckets/token-bucket.ts'
import { afterNotice, dueNotices } from './cap-notices.ts'
import type { MeterStore } from './meter-store.ts'

/** The paid part of an entitlement. */
export interface Paid {
  /** How many requests over the cap may be charged for in a period; null: none. */
  readonly overages: Spending | null
  /** Absent if all requests that count were used in the period. */
  readonly carriedRequests?: CarriedRequests
}

/** The parts of an entitlement that decide how a request is counted. */
interface Terms {
  readonly plan: { readonly monthlyCap: number }
  /** null without a subscription. */
  readonly paid: Paid | null
}

export interface Counts {
  readonly requests: number
  /** How many of them are charged for. */
  readonly overage: number
}

const NO_NOTICES: readonly DueNotice[] = []

export interface UserMeterOptions {
  readonly store: MeterStore
  /** Queues the item to be written: see `UseFlusher.add`. */
  readonly write: (item: Unwritten) => void
  /** The statements that record the notice, in the transaction that writes the count. */
  readonly record: (notice: CapNotice) => readonly Query[]
}

/** The bucket of all keys of a user, and the answered requests of one period, written or not. */
export class UserMeter implements Unwritten {
  readonly userId: string
  readonly place: number
  readonly period: BillingPeriod
  readonly bucket: Bucket
  /** How many callers count here. */
  callers = 0
  requests: number
  /** How many of the requests are charged for. */
  overage: number
  readonly #options: UserMeterOptions
  #isQueued = false
  /**
   * Requests that are neither written nor being written, and how many of them are charged for. They change with
   * each request, so they are numbers: objects that live for a second cost the garbage collector most.
   */
  #unwrittenRequests = 0
  #unwrittenOverage = 0
  #isInFlight = false
  /** The requests that are being written, and how many of them are charged for. */
  #requestsInFlight = 0
  #overageInFlight = 0
  #cap = Number.POSITIVE_INFINITY
  #spending: Spending | null = null
  /** The notices that were given. */
  #warned: Warned
  /** Notices that are being written. */
  #notices = NO_NOTICES

  constructor(options: UserMeterOptions, userId: string, period: BillingPeriod, bucket: Bucket) {
    const { requests, overage, ...warned } = options.store.readPeriod(userId, period.start)
    this.userId = userId
    this.place = tablePageOf(userId)
    this.period = period
    this.bucket = bucket
    this.requests = requests
    this.overage = overage
    this.#warned = warned
    this.#options = options
  }

  get isWritten(): boolean {
    return !this.#isQueued && !this.#isInFlight
  }

  /** Queues the bucket and the requests for the next flush. */
  queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#options.write(this)
  }

  /** Returns how many more requests may be answered in full. */
  left({ plan, paid }: Terms): number {
    const free = Math.max(0, this.cap({ plan, paid }) - this.requests)
    return free + this.#leftToCharge(paid)
  }

  /** Returns how many requests of the period may be answered in full, without overages. */
  cap({ plan, paid }: Terms): number {
    return capIn(this.period, plan, paid?.carriedRequests)
  }

  count(terms: Terms, requests: number): void {
    if (requests === 0) return
    const { paid } = terms
    const cap = this.cap(terms)
    this.queue()
    this.requests += requests
    const over = Math.min(requests, Math.max(0, this.requests - cap))
    const overage = Math.min(over, this.#leftToCharge(paid))
    this.overage += overage
    this.#unwrittenRequests += requests
    this.#unwrittenOverage += overage
    this.#cap = cap
    this.#spending = paid?.overages ?? null
  }

  #leftToCharge(paid: Paid | null): number {
    return paid?.overages == null ? 0 : Math.max(0, paid.overages.maxUnits - this.overage)
  }

  collect({ users }: Uses): void {
    const { userId, period } = this
    const { spent, at } = this.bucket
    const [requests, overage] = [this.#unwrittenRequests, this.#unwrittenOverage]
    this.#requestsInFlight = requests
    this.#overageInFlight = overage
    this.#unwrittenRequests = 0
    this.#unwrittenOverage = 0
    this.#isInFlight = true
    this.#isQueued = false
    this.#notices = this.#dueNotices()
    const counts = { requests, overage, bucket: { spent, at }, notices: this.#notices }
    users.push({ userId, periodStart: period.start, ...counts })
  }

  written(totals: Totals | undefined): void {
    this.#endWrite()
    const total = totals?.get(periodId({ userId: this.userId, periodStart: this.period.start }))
    if (total !== undefined) this.#setTotals(total)
    for (const notice of this.#notices) this.#warned = afterNotice(this.#warned, notice)
  }

  notWritten(): void {
    this.#unwrittenRequests += this.#requestsInFlight
    this.#unwrittenOverage += this.#overageInFlight
    this.#endWrite()
    this.queue()
  }

  #endWrite(): void {
    this.#isInFlight = false
    this.#requestsInFlight = 0
    this.#overageInFlight = 0
  }

  /** Raises the counts to what was read from the database, if that is more. They never become less. */
  raise({ requests, overage }: Counts): void {
    this.requests = Math.max(this.requests, requests + this.#unwrittenRequests)
    this.overage = Math.max(this.overage, overage + this.#unwrittenOverage)
  }

  /** Sets the counts to what all nodes have written, plus what this one has yet to write. */
  #setTotals({ requests, overage }: Counts): void {
    this.requests = requests + this.#unwrittenRequests
    this.overage = overage + this.#unwrittenOverage
  }

  #dueNotices(): readonly DueNotice[] {
    const { userId, requests, overage } = this
    const usage = { userId, requests, overage, cap: this.#cap, spending: this.#spending }
    const due = dueNotices(usage, this.#warned)
    if (due.length === 0) return NO_NOTICES
    return due.map((notice) => ({
      ...notice,
      records: this.#options.record(notice),
    }))
  }
}
