import { isLocked } from '../db/fault.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { transact } from '../db/transaction.ts'
import { reasonOf } from '../reason.ts'
import { nextAttempt } from './backoff.ts'
import {
  type ClaimedInquiry,
  claimDue,
  type InquiryRow,
  type Outcome,
  settle,
} from './inquiry-store.ts'

/**
 * Delivers an inquiry. If that fails, throws an error whose message contains no part of the inquiry,
 * so that it may be logged. Stops once `signal` is aborted.
 */
export type Deliver = (inquiry: InquiryRow, signal: AbortSignal) => Promise<void>

interface CourierOptions {
  readonly db: Db
  readonly deliver: Deliver
  readonly now: () => number
  readonly onFailure: (attempt: FailedAttempt) => void
  readonly onError: (error: unknown) => void
  /** How long an attempt may take. Keep it well below the lease. */
  readonly attemptMs?: number
}

/** A failed attempt, without the contents of the inquiry. */
export interface FailedAttempt {
  readonly inquiryId: string
  readonly attempts: number
  readonly reason: string
  /** false after the last attempt. */
  readonly willRetry: boolean
}

interface Attempt {
  readonly claimed: ClaimedInquiry
  readonly abort: AbortController
}

const ATTEMPT_MS = 20_000
/** Longer than an attempt and the commit of its outcome take. */
const LEASE_MS = 30_000
const STOP_MS = 8_000

/**
 * Delivers due inquiries one after the other. A receiver gets an inquiry twice only if it accepted the
 * first copy and we could not record that: its answer was lost, or the process ended before the
 * commit. Both copies have the same id.
 */
export class Courier {
  readonly #options: CourierOptions
  #round: Promise<void> | null = null
  #attempt: Attempt | null = null
  /** Whether an attempt has failed: then nothing is tried until the next `retry`. */
  #isPaused = false
  #isStopped = false

  constructor(options: CourierOptions) {
    this.#options = options
  }

  /** Delivers due inquiries in the background, unless the last attempt has failed. */
  wake(): void {
    if (this.#isPaused || this.#isStopped) return
    this.#round ??= this.#deliverAll()
  }

  /** Delivers due inquiries even after a failure. Resolves once none is due or one has failed. */
  async retry(): Promise<void> {
    this.#isPaused = false
    this.wake()
    await this.#round
  }

  /** Waits some seconds for the running attempt to finish, then aborts it. */
  async stop(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, STOP_MS)
    this.#isStopped = true
    await Promise.race([this.#round, late])
    clearTimeout(timer)
    this[Symbol.dispose]()
  }

  /** Aborts the running attempt and gives its inquiry back, as if it had not been tried. */
  [Symbol.dispose](): void {
    this.#isStopped = true
    const attempt = this.#attempt
    if (attempt === null) return
    this.#attempt = null
    const { claimed, abort } = attempt
    const { db, now } = this.#options
    void this.#try(() => giveBack(db, claimed, now()))
    abort.abort()
  }

  async #deliverAll(): Promise<void> {
    // The caller that woke us runs first.
    await new Promise((resolve) => setImmediate(resolve))
    try {
      for (let next = await this.#begin(); next !== null; ) next = await this.#deliverOne(next)
    } finally {
      this.#round = null
    }
  }

  async #begin(): Promise<ClaimedInquiry | null> {
    return (await this.#try(() => this.#claim(this.#options.db))) ?? null
  }

  async #claim(queries: Queries): Promise<ClaimedInquiry | null> {
    if (this.#isPaused || this.#isStopped) return null
    const at = this.#options.now()
    return claimDue(queries, at, at + LEASE_MS)
  }

  /** Returns the next inquiry, which is claimed in the commit that settles this one. */
  async #deliverOne(claimed: ClaimedInquiry): Promise<ClaimedInquiry | null> {
    const { db, now, onError } = this.#options
    if (this.#isStopped) {
      // It was claimed while another process held the lock.
      await this.#try(() => giveBack(db, claimed, now()))
      return null
    }
    const attempt = { claimed, abort: new AbortController() }
    this.#attempt = attempt
    const outcome = await this.#outcome(attempt)
    // The inquiry was given back meanwhile.
    if (this.#attempt !== attempt) return null
    try {
      return await transact(db, async (queries) => {
        await settle(queries, claimed, outcome)
        return this.#claim(queries)
      })
    } catch (error) {
      this.#isPaused = true
      onError(error)
      return null
    } finally {
      this.#attempt = null
    }
  }

  async #outcome({ claimed, abort }: Attempt): Promise<Outcome> {
    const { deliver, now, attemptMs = ATTEMPT_MS } = this.#options
    const timer = setTimeout(() => abort.abort(new Error('timeout')), attemptMs)
    try {
      await deliver(claimed, abort.signal)
      return { state: 'delivered', settledAt: now(), lastError: null }
    } catch (error) {
      this.#isPaused = true
      return this.#fail(claimed, reasonOf(error))
    } finally {
      clearTimeout(timer)
    }
  }

  #fail(claimed: ClaimedInquiry, reason: string): Outcome {
    const { now, onFailure } = this.#options
    const at = now()
    const { id: inquiryId, attempts } = claimed
    const dueAt = nextAttempt(claimed, at, Math.random())
    const wasGivenBack = this.#attempt === null
    if (!wasGivenBack) onFailure({ inquiryId, attempts, reason, willRetry: dueAt !== null })
    return dueAt === null
      ? { state: 'dead', settledAt: at, lastError: reason }
      : { dueAt, lastError: reason }
  }

  /** Ignores another process's lock: the next `retry` claims again, and an open lease ends by itself. */
  async #try<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#isPaused = true
      if (!isLocked(error)) this.#options.onError(error)
      return undefined
    }
  }
}

/** As if it had not been tried. */
function giveBack(db: Queries, claimed: ClaimedInquiry, now: number): Promise<void> {
  return settle(db, claimed, { dueAt: now, attempts: claimed.attempts - 1 })
}
