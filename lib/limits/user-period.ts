import type { BillingPeriod } from '../config/period.ts'
import { type CapShare, toCapShares } from '../contract/account/cap-shares.ts'
import type { Ledger } from '../db/ledger/ledger.ts'
import type { CapNotice, DueNotice, Spending, Threshold, Warned } from '../db/ledger/notices.ts'
import { periodId } from '../db/ledger/pending-counts.ts'
import { type LedgerTable, Line, type LineKind, type Totals } from '../db/ledger/table.ts'
import type { Query } from '../parts/sql.ts'
import type { Bucket } from './buckets/token-bucket.ts'
import { type MeterStore, NO_COUNTS } from './meter-store.ts'

/** The paid part of an entitlement. */
export interface Paid {
  /** How many requests over the cap may be charged for in a period; null: none. */
  readonly overages: Spending | null
}

/** The parts of an entitlement that decide how a request is counted. */
interface Terms {
  readonly plan: { readonly monthlyCap: number }
  readonly capShares: readonly CapShare[]
  /** null without a subscription. */
  readonly paid: Paid | null
}

export interface Counts {
  readonly requests: number
  /** How many of them are charged for. */
  readonly overage: number
}

const NO_CHARGE = { cap: 0, maxUnits: 0 }
const NO_NOTICES: readonly never[] = []

/** What the meters are opened with. */
export interface MeterOptions {
  readonly store: MeterStore
  readonly ledger: Pick<Ledger, 'open'>
  /** The statements that record the notice, in the transaction that writes the count. */
  readonly record: (notice: CapNotice) => readonly Query[]
}

/** The sums of a period. */
const [REQUESTS, OVERAGE, CHARGEABLE] = [0, 1, 2]

/** How periods are written, with the bucket of all keys. */
export const USER_PERIODS: LineKind<UserPeriod> = {
  sums: 3,
  toPending: (rows) => ({
    users: {
      userId: rows.lines.map(({ userId }) => userId),
      periodStart: rows.numbers(({ period }) => period.start),
      requests: rows.sum(REQUESTS),
      overage: rows.sum(OVERAGE),
      chargeable: rows.sum(CHARGEABLE),
      cap: rows.numbers(({ charge }) => charge.cap),
      maxUnits: rows.numbers(({ charge }) => charge.maxUnits),
      spent: rows.numbers(({ bucket }) => bucket.spent),
      at: rows.numbers(({ bucket }) => bucket.at),
      notices: rows.lines.map((user) => user.giveNotices()),
    },
  }),
  written: (user, totals) => user.written(totals),
}

/** The answered requests of a user in one period, written or not. */
export class UserPeriod extends Line {
  readonly userId: string
  readonly period: BillingPeriod
  /** The bucket of all keys. */
  readonly bucket: Bucket
  /** How many callers count here. */
  callers = 0
  requests: number
  /** How many of the requests are charged for. */
  overage: number
  /** The limits with which requests were last counted that may be charged for. */
  charge = NO_CHARGE
  readonly #ledger: LedgerTable<UserPeriod>
  readonly #record: MeterOptions['record']
  #cap = Number.POSITIVE_INFINITY
  #spending: Spending | null = null
  #capShares: readonly CapShare[] = []
  /** The notices that were given. */
  #warned: Warned
  /** Notices that are being written. */
  #notices: readonly DueNotice[] = NO_NOTICES

  constructor(
    { userId, period, bucket }: Pick<UserPeriod, 'userId' | 'period' | 'bucket'>,
    { store, record }: Pick<MeterOptions, 'store' | 'record'>,
    ledger: LedgerTable<UserPeriod>,
  ) {
    super(userId)
    const stored = store.readPeriod(userId, period.start)
    this.userId = userId
    this.period = period
    this.bucket = bucket
    this.requests = stored.requests
    this.overage = stored.overage
    this.#warned = stored
    this.#record = record
    this.#ledger = ledger
  }

  /** Returns how many more requests may be answered in full, as far as this node knows. */
  left({ plan, paid }: Terms): number {
    return Math.max(0, plan.monthlyCap - this.requests) + leftToCharge(paid, this.overage)
  }

  count(terms: Terms, requests: number): void {
    if (requests === 0) return
    const { monthlyCap: cap } = terms.plan
    const spending = terms.paid?.overages ?? null
    const chargeable = spending === null ? 0 : Math.min(requests, this.left(terms))
    this.requests += requests
    const over = Math.max(0, this.requests - cap)
    const overage = Math.min(over, chargeable, leftToCharge(terms.paid, this.overage))
    this.overage += overage
    this.#ledger.add(this, REQUESTS, requests)
    if (overage > 0) this.#ledger.add(this, OVERAGE, overage)
    if (spending !== null && chargeable > 0) {
      this.#limitCharge(cap, spending.maxUnits)
      this.#ledger.add(this, CHARGEABLE, chargeable)
    }
    this.#cap = cap
    this.#spending = spending
    this.#capShares = terms.capShares
  }

  #limitCharge(newCap: number, maxUnits: number): void {
    // What waits may have been within a cap that was higher.
    const waits = this.#ledger.waiting(this, CHARGEABLE) > 0
    const cap = waits ? Math.max(newCap, this.charge.cap) : newCap
    const { charge } = this
    if (charge.cap !== cap || charge.maxUnits !== maxUnits) this.charge = { cap, maxUnits }
  }

  /** Raises the counts to what was read from the database, if that is more. They never become less. */
  raise(stored: Counts): void {
    this.#addWaiting(stored, this)
  }

  /** Adds what was counted since the last flush began to stored counts, and keeps at least `least`. */
  #addWaiting({ requests, overage }: Counts, least: Counts): void {
    const waiting = (sum: number) => this.#ledger.waiting(this, sum)
    this.requests = Math.max(least.requests, requests + waiting(REQUESTS))
    const chargeable = waiting(CHARGEABLE)
    // As the database charges: requests that were reduced are not in `chargeable`.
    const over = Math.min(chargeable, Math.max(0, requests + chargeable - this.charge.cap))
    const added = Math.min(
      Math.max(waiting(OVERAGE), over),
      Math.max(0, this.charge.maxUnits - overage),
    )
    this.overage = Math.max(least.overage, overage + added)
  }

  /** Returns the notices that are due. They are given once they are written. */
  giveNotices(): readonly DueNotice[] {
    const { userId, requests, overage } = this
    const [cap, spending, capShares] = [this.#cap, this.#spending, this.#capShares]
    const usage = { userId, requests, overage, cap, spending, capShares }
    const due = dueNotices(usage, this.#warned)
    this.#notices =
      due.length === 0
        ? NO_NOTICES
        : due.map((notice) => ({ ...notice, records: this.#record(notice) }))
    return this.#notices
  }

  /** Sets the counts to what all nodes have written, if they share them, plus what this one has yet to write. */
  written(totals: Totals | undefined): void {
    const total = totals?.get(periodId({ userId: this.userId, periodStart: this.period.start }))
    if (total !== undefined) this.#addWaiting(total, NO_COUNTS)
    for (const notice of this.#notices) this.#warned = afterNotice(this.#warned, notice)
  }
}

function leftToCharge(paid: Paid | null, overage: number): number {
  return paid?.overages == null ? 0 : Math.max(0, paid.overages.maxUnits - overage)
}

/** What a user has used in a period, and the limits that applied to the last request. */
export interface Usage {
  readonly userId: string
  readonly requests: number
  /** How many of them are charged for. */
  readonly overage: number
  readonly cap: number
  /** null: no request is charged for. */
  readonly spending: Spending | null
  /** In ascending order. */
  readonly capShares: readonly CapShare[]
}

/** Returns the notices that are due and were not given yet. Of several shares of the cap, only the highest is mailed. */
function dueNotices(
  usage: Usage,
  { warned, warnedCap, warnedUnits }: Warned,
): readonly CapNotice[] {
  const { userId, requests, overage, cap, spending, capShares } = usage
  // Most users are below every share.
  if (spending === null && requests < (cap * (capShares[0]?.percent ?? 0)) / 100) return NO_NOTICES
  const last = cap === warnedCap ? warned : 0
  const reached = capShares.filter(
    ({ percent }) => percent > last && requests >= (cap * percent) / 100,
  )
  const highest = reached.findLast(({ isMailed }) => isMailed)
  const notices: CapNotice[] = reached.map((share) => ({
    ...share,
    isMailed: share === highest,
    userId,
    threshold: share.percent < 100 ? 'near_cap' : 'reach_cap',
    cap,
  }))
  if (spending !== null && spending.maxUnits > warnedUnits && overage >= spending.maxUnits) {
    notices.push({ userId, threshold: 'reach_spending_cap', spending })
  }
  return notices
}

function afterNotice(warned: Warned, notice: CapNotice): Warned {
  return notice.threshold === 'reach_spending_cap'
    ? { ...warned, warnedUnits: notice.spending.maxUnits }
    : { ...warned, warned: notice.percent, warnedCap: notice.cap }
}

const NONE: Warned = { warned: 0, warnedCap: 0, warnedUnits: 0 }

/** Returns the limits that are reached, whether or not a notice was given, and whatever the user has chosen. */
export function thresholdsReached(usage: Omit<Usage, 'capShares'>): Threshold[] {
  return dueNotices({ ...usage, capShares: toCapShares(null) }, NONE).map(
    ({ threshold }) => threshold,
  )
}
