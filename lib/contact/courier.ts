import { isLocked } from '../db/fault.ts'
import type { Db } from '../db/open.ts'
import type { Queries } from '../db/queries.ts'
import { transact } from '../db/transaction.ts'
import { reasonOf } from '../parts/reason.ts'
import { withTimeout } from '../parts/with-timeout.ts'
import { nextAttempt } from './backoff.ts'
import type { Claimed, Delivery, DeliveryOutcome, DeliveryQueue } from './delivery-queue.ts'

/**
 * Delivers a message. If that fails, throws an error whose text contains no part of the message,
 * so that it may be logged. Stops once `signal` is aborted.
 */
export type Deliver<Row> = (message: Row, signal: AbortSignal) => Promise<void>

export interface CourierOptions<Row extends Delivery> {
  readonly db: Db
  readonly queue: DeliveryQueue<Row>
  /** Runs `work` unless another process does so. The signal aborts if that may have changed. */
  readonly runAlone: (work: (signal: AbortSignal) => Promise<void>) => Promise<unknown>
  readonly deliver: Deliver<Row>
  readonly now: () => number
  readonly onFailure: (attempt: FailedAttempt) => void
  readonly onError: (error: unknown) => void
  /** How long an attempt may take. Keep it well below the lease. */
  readonly attemptMs?: number
}

/** A failed attempt, without the contents of the message. */
export interface FailedAttempt {
  readonly id: string
  readonly attempts: number
  readonly reason: string
  /** false after the last attempt. */
  readonly willRetry: boolean
}

/** The receiver works, but refuses this message. The others need not wait for its next attempt. */
export class RefusedMessage extends Error {}

interface Attempt<Row> {
  readonly claimed: Claimed<Row>
  readonly abort: AbortController
}

const ATTEMPT_MS = 20_000
/**
 * Longer than an attempt and the commit of its outcome take. The clocks of machines may differ by more, so
 * `runAlone` keeps other processes away.
 */
const LEASE_MS = 30_000
const STOP_MS = 8_000

/**
 * Delivers due messages one after the other. A receiver gets a message twice only if it accepted the
 * first copy and we could not record that: its answer was lost, or the process ended before the
 * commit. Both copies have the same id.
 */
export class Courier<Row extends Delivery> {
  readonly #options: CourierOptions<Row>
  #round: Promise<void> | null = null
  /** Whether messages may have become due since the round looked for them. */
  #mustLookAgain = false
  #attempt: Attempt<Row> | null = null
  /** Whether the receiver has failed: then nothing is tried until the next `retry`. */
  #isPaused = false
  #isStopped = false

  constructor(options: CourierOptions<Row>) {
    this.#options = options
  }

  /** Delivers due messages in the background, unless the receiver failed at the last attempt. */
  wake(): void {
    if (this.#isPaused || this.#isStopped) return
    this.#mustLookAgain = true
    this.#round ??= this.#deliverAll()
  }

  /** Delivers due messages even after a failure. Resolves once none is due or the receiver has failed. */
  async retry(): Promise<void> {
    this.#isPaused = false
    this.wake()
    await this.#round
  }

  /** Waits some seconds for the running attempt to finish, then aborts it. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await withTimeout(this.#round ?? Promise.resolve(), STOP_MS, () => {})
    this[Symbol.dispose]()
  }

  /** Aborts the running attempt, and returns its message to the queue as if it had not been tried. */
  [Symbol.dispose](): void {
    this.#isStopped = true
    const attempt = this.#attempt
    if (attempt === null) return
    this.#attempt = null
    const { claimed, abort } = attempt
    void this.#try(() => this.#giveBack(claimed))
    abort.abort()
  }

  async #deliverAll(): Promise<void> {
    // Lets the caller of `wake` finish first.
    await new Promise((resolve) => setImmediate(resolve))
    try {
      while (this.#mustLookAgain && !this.#isPaused && !this.#isStopped) {
        this.#mustLookAgain = false
        await this.#try(() => this.#deliverAllDue())
      }
    } finally {
      this.#round = null
    }
  }

  async #deliverAllDue(): Promise<void> {
    const { db, queue, now, runAlone } = this.#options
    if (await queue.isDue(db, now())) await runAlone((signal) => this.#deliverDue(signal))
  }

  async #deliverDue(signal: AbortSignal): Promise<void> {
    const first = await this.#claim(this.#options.db, signal)
    for (let next = first; next !== null; ) next = await this.#deliverOne(next, signal)
  }

  async #claim(queries: Queries, signal: AbortSignal): Promise<Claimed<Row> | null> {
    if (this.#isPaused || this.#isStopped || signal.aborted) return null
    const at = this.#options.now()
    return this.#options.queue.claimDue(queries, at, at + LEASE_MS)
  }

  /** Returns the next message, which is claimed in the commit that settles this one. */
  async #deliverOne(claimed: Claimed<Row>, signal: AbortSignal): Promise<Claimed<Row> | null> {
    const { db, queue, onError } = this.#options
    if (this.#isStopped) {
      // Another process held the lock when `stop` was called, so the claim came too late.
      await this.#try(() => this.#giveBack(claimed))
      return null
    }
    const attempt = { claimed, abort: new AbortController() }
    this.#attempt = attempt
    const outcome = await this.#outcome(attempt)
    // The message was given back meanwhile.
    if (this.#attempt !== attempt) return null
    try {
      return await transact(db, async (queries) => {
        await queue.settle(queries, claimed, outcome)
        return this.#claim(queries, signal)
      })
    } catch (error) {
      this.#isPaused = true
      onError(error)
      return null
    } finally {
      this.#attempt = null
    }
  }

  async #outcome({ claimed, abort }: Attempt<Row>): Promise<DeliveryOutcome> {
    const { deliver, now, attemptMs = ATTEMPT_MS } = this.#options
    const timer = setTimeout(() => abort.abort(new Error('timeout')), attemptMs)
    try {
      await deliver(claimed, abort.signal)
      return { state: 'delivered', settledAt: now(), lastError: null }
    } catch (error) {
      if (!(error instanceof RefusedMessage)) this.#isPaused = true
      return this.#fail(claimed, reasonOf(error))
    } finally {
      clearTimeout(timer)
    }
  }

  #fail(claimed: Claimed<Row>, reason: string): DeliveryOutcome {
    const { now, onFailure } = this.#options
    const at = now()
    const { id, attempts, expiresAt } = claimed
    const next = nextAttempt(claimed, at, Math.random())
    const dueAt = next !== null && next < (expiresAt ?? Number.POSITIVE_INFINITY) ? next : null
    const wasGivenBack = this.#attempt === null
    if (!wasGivenBack) onFailure({ id, attempts, reason, willRetry: dueAt !== null })
    return dueAt === null
      ? { state: 'dead', settledAt: at, lastError: reason }
      : { dueAt, lastError: reason }
  }

  /** Ignores locks of other processes: the next `retry` claims again, and an open lease ends by itself. */
  async #try<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work()
    } catch (error) {
      this.#isPaused = true
      if (!isLocked(error)) this.#options.onError(error)
      return undefined
    }
  }

  /** Returns the message to the queue, as if it had not been tried. */
  #giveBack(claimed: Claimed<Row>): Promise<void> {
    const { db, queue, now } = this.#options
    return queue.settle(db, claimed, { dueAt: now(), attempts: claimed.attempts - 1 })
  }
}
