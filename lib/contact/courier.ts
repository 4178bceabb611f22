import type { Db } from '../db/open.ts'
import { isLocked, type Statement, transact } from '../db/unit.ts'
import { withoutWaiting } from '../db/without-waiting.ts'
import { nextAttempt } from './backoff.ts'
import type { InquiryRow } from './inquiry.ts'
import {
  type ClaimedInquiry,
  claimDue,
  giveBack,
  giveUp,
  markDelivered,
  postpone,
} from './inquiry-store.ts'

/**
 * Hands an inquiry over, or throws an error whose message may be logged: it names neither who asks
 * nor what. Breaks off once `signal` is aborted.
 */
export type Deliver = (inquiry: InquiryRow, signal: AbortSignal) => Promise<void>

export interface CourierOptions {
  readonly db: Db
  readonly deliver: Deliver
  readonly now: () => number
  readonly onTrouble: (trouble: Trouble) => void
  readonly onError: (error: unknown) => void
  /** How long an attempt may take; less than a lease by far. */
  readonly attemptMs?: number
}

/** An attempt that failed. Holds nothing of what the inquiry says. */
export interface Trouble {
  readonly inquiryId: string
  readonly attempts: number
  readonly reason: string
  /** false: it was the last. */
  readonly willRetry: boolean
}

interface Attempt {
  readonly claimed: ClaimedInquiry
  readonly abort: AbortController
}

const ATTEMPT_MS = 20_000
/** Longer than an attempt with the writing of its outcome. */
const LEASE_MS = 30_000
const STOP_MS = 8_000

/**
 * Delivers what is due, one after the other. A receiver gets an inquiry twice only where it has
 * taken one and we cannot note it: its answer is lost, or the process ends before the commit that
 * follows. Both copies then have the same id.
 */
export class Courier {
  readonly #options: CourierOptions
  #round: Promise<void> | null = null
  #attempt: Attempt | null = null
  /** The receiver has failed, and is left alone until the next `look`. */
  #isPaused = false
  #isStopped = false

  constructor(options: CourierOptions) {
    this.#options = options
  }

  /** Something is due: delivers it in the background, unless the last attempt has failed. */
  wake(): void {
    if (this.#isPaused || this.#isStopped) return
    this.#round ??= this.#deliverAll()
  }

  /** Delivers what is due, whatever failed before. Resolves once there is nothing more to do. */
  async look(): Promise<void> {
    this.#isPaused = false
    this.wake()
    await this.#round
  }

  /** Lets the attempt that runs finish, for some seconds, else gives its inquiry back. */
  async stop(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, STOP_MS)
    this.#isStopped = true
    await Promise.race([this.#round, late])
    clearTimeout(timer)
    this[Symbol.dispose]()
  }

  /** Gives back at once what is under way. */
  [Symbol.dispose](): void {
    this.#isStopped = true
    const attempt = this.#attempt
    if (attempt === null) return
    this.#attempt = null
    const { db, now } = this.#options
    this.#try(() => giveBack(db, attempt.claimed, now()).run())
    attempt.abort.abort()
  }

  async #deliverAll(): Promise<void> {
    // Who has woken us goes on first.
    await new Promise((resolve) => setImmediate(resolve))
    try {
      for (let next = this.#begin(); next !== null; ) next = await this.#deliverOne(next)
    } finally {
      this.#round = null
    }
  }

  #begin(): ClaimedInquiry | null {
    return this.#try(() => withoutWaiting(this.#options.db, () => this.#claim())) ?? null
  }

  #claim(): ClaimedInquiry | null {
    if (this.#isPaused || this.#isStopped) return null
    const { db, now } = this.#options
    const at = now()
    return claimDue(db, at, at + LEASE_MS)
  }

  /** Returns the next one, which is claimed with the commit that ends this one. */
  async #deliverOne(claimed: ClaimedInquiry): Promise<ClaimedInquiry | null> {
    const { db, onError } = this.#options
    const attempt = { claimed, abort: new AbortController() }
    this.#attempt = attempt
    const outcome = await this.#outcome(attempt)
    // Given back meanwhile.
    if (this.#attempt !== attempt) return null
    try {
      return await transact(db, () => {
        outcome.run()
        return this.#claim()
      })
    } catch (error) {
      this.#isPaused = true
      onError(error)
      return null
    } finally {
      this.#attempt = null
    }
  }

  async #outcome({ claimed, abort }: Attempt): Promise<Statement> {
    const { db, deliver, now, attemptMs = ATTEMPT_MS } = this.#options
    const timer = setTimeout(() => abort.abort(new Error('timeout')), attemptMs)
    try {
      await deliver(claimed, abort.signal)
      return markDelivered(db, claimed, now())
    } catch (error) {
      this.#isPaused = true
      return this.#fail(claimed, error instanceof Error ? error.message : 'unknown')
    } finally {
      clearTimeout(timer)
    }
  }

  #fail(claimed: ClaimedInquiry, reason: string): Statement {
    const { db, now, onTrouble } = this.#options
    const at = now()
    const { id: inquiryId, attempts } = claimed
    const dueAt = nextAttempt(claimed, at, Math.random())
    // Else it was given back.
    if (this.#attempt !== null)
      onTrouble({ inquiryId, attempts, reason, willRetry: dueAt !== null })
    return dueAt === null
      ? giveUp(db, claimed, { settledAt: at, trouble: reason })
      : postpone(db, claimed, { dueAt, trouble: reason })
  }

  /** What the lock of another process prevents is done with the next look, or when a lease ends. */
  #try<Result>(work: () => Result): Result | undefined {
    try {
      return work()
    } catch (error) {
      this.#isPaused = true
      if (!isLocked(error)) this.#options.onError(error)
      return undefined
    }
  }
}
