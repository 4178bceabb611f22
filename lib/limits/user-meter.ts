import type { Unwritten } from '../db/flusher.ts'
import type { MeterStore, Warned } from './meter-store.ts'
import type { Period } from './period.ts'

/** A user has come to 80 % or 100 % of the cap. */
export interface CapNotice {
  readonly userId: string
  readonly warned: Exclude<Warned, 0>
  readonly cap: number
}

/** What a request is counted by. */
export interface Terms {
  readonly plan: { readonly monthlyCap: number }
  /** Whether requests over the cap are charged for; null: nothing is paid for. */
  readonly paid: { readonly overages: boolean } | null
}

/** In per cent of the cap. */
const WARNINGS = [80, 100] as const

export interface UserMeterOptions {
  readonly store: MeterStore
  /** Has the item written: see `Flusher.add`. */
  readonly write: (item: Unwritten) => void
  /** Writes the notice into the audit log, in the transaction that counts. */
  readonly audit: (notice: CapNotice) => void
  /** Told of the notice once it is written. */
  readonly announce: (notice: CapNotice) => void
}

/** What a user was answered in one period, written or not. */
export class UserMeter implements Unwritten {
  readonly userId: string
  readonly period: Period
  requests: number
  readonly #options: UserMeterOptions
  #unwritten = 0
  /** Those of the unwritten requests that are charged for. */
  #overage = 0
  #cap = Number.POSITIVE_INFINITY
  #warned: Warned
  /** The cap that this is a share of: a change of plan begins anew. */
  #warnedCap: number
  #notices: readonly CapNotice[] = []

  constructor(options: UserMeterOptions, userId: string, period: Period) {
    const { requests, warned, warnedCap } = options.store.readPeriod(userId, period.start)
    this.userId = userId
    this.period = period
    this.requests = requests
    this.#warned = warned
    this.#warnedCap = warnedCap
    this.#options = options
  }

  get isWritten(): boolean {
    return this.#unwritten === 0
  }

  count({ plan, paid }: Terms, requests: number): void {
    // A batch without an address: what is handed over twice would be written twice.
    if (requests === 0) return
    if (this.#unwritten === 0) this.#options.write(this)
    this.#unwritten += requests
    this.requests += requests
    this.#cap = plan.monthlyCap
    if (paid?.overages !== true) return
    this.#overage += Math.min(requests, Math.max(0, this.requests - plan.monthlyCap))
  }

  write(): void {
    const { userId, period } = this
    const { store, audit } = this.#options
    store.addUserUse({
      userId,
      periodStart: period.start,
      requests: this.#unwritten,
      overage: this.#overage,
    })
    this.#notices = this.#dueNotices().filter(({ warned, cap }) =>
      store.markWarned(userId, period.start, warned, cap),
    )
    for (const notice of this.#notices) audit(notice)
  }

  written(): void {
    this.#unwritten = 0
    this.#overage = 0
    for (const notice of this.#notices) {
      this.#warned = notice.warned
      this.#warnedCap = notice.cap
      this.#options.announce(notice)
    }
    this.#notices = []
  }

  /** Both where one flush passes both marks. */
  #dueNotices(): CapNotice[] {
    const { userId, requests } = this
    const cap = this.#cap
    const told = cap === this.#warnedCap ? this.#warned : 0
    return WARNINGS.filter((warned) => warned > told && requests >= (cap * warned) / 100).map(
      (warned) => ({ userId, warned, cap }),
    )
  }
}
