import type { Unwritten } from '../db/flusher.ts'
import type { MeterStore, Warned } from './meter-store.ts'
import type { Period } from './period.ts'

/** A user has come to 80 % or 100 % of the cap. */
export interface CapNotice {
  readonly userId: string
  readonly warned: Exclude<Warned, 0>
  readonly cap: number
}

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
  #cap = Number.POSITIVE_INFINITY
  #warned: Warned
  #notice: CapNotice | null = null

  constructor(options: UserMeterOptions, userId: string, period: Period) {
    const { requests, warned } = options.store.readPeriod(userId, period.start)
    this.userId = userId
    this.period = period
    this.requests = requests
    this.#warned = warned
    this.#options = options
  }

  get isWritten(): boolean {
    return this.#unwritten === 0
  }

  count(cap: number): void {
    if (this.#unwritten === 0) this.#options.write(this)
    this.#unwritten += 1
    this.requests += 1
    this.#cap = cap
  }

  write(): void {
    const { userId, period } = this
    const { store, audit } = this.#options
    store.addUserUse({ userId, periodStart: period.start, requests: this.#unwritten })
    const notice = this.#dueNotice()
    const isNew = notice !== null && store.markWarned(userId, period.start, notice.warned)
    this.#notice = isNew ? notice : null
    if (this.#notice !== null) audit(this.#notice)
  }

  written(): void {
    this.#unwritten = 0
    if (this.#notice === null) return
    this.#warned = this.#notice.warned
    this.#options.announce(this.#notice)
    this.#notice = null
  }

  #dueNotice(): CapNotice | null {
    const cap = this.#cap
    const warned = this.requests >= cap ? 100 : 80
    const isDue = this.requests >= (cap * warned) / 100 && warned > this.#warned
    return isDue ? { userId: this.userId, warned, cap } : null
  }
}
