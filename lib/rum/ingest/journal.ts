import type { KeptBeacon } from './beacon.ts'

/** An entry of the journal: one beacon. */
export interface Entry {
  readonly siteId: string
  /** Ascending. */
  readonly id: number
  /** Epoch milliseconds. */
  readonly receivedAt: number
  /** ISO 3166-1 alpha-2; empty if unknown. */
  readonly country: string
  readonly beacon: KeptBeacon
}

export type Draft = Omit<Entry, 'id'>

/** `failed`: the database write failed, and the beacon is not stored. */
export type Accepted = 'stored' | 'failed'

export interface JournalOptions {
  readonly firstId: number
  /** Writes all entries or, if it fails, none. Returns the milliseconds that the commit alone has taken. */
  readonly write: (entries: readonly Entry[]) => number | Promise<number>
  /** Called once the entries are committed. */
  readonly committed?: (entries: readonly Entry[]) => void
  readonly isLocked: (error: unknown) => boolean
  readonly onError: (error: unknown) => void
  readonly pace?: Pace
}

/** How beacons are grouped while they arrive faster than one at a time. */
export interface Pace {
  /** A group of this size is committed at once. */
  readonly fullGroup: number
  /** The pause after a commit that took `commitMs`. Both are milliseconds. */
  readonly pauseAfter: (commitMs: number) => number
}

const BATCH = 500
/** Slow disks get fewer, larger commits. */
const LOCAL_PACE: Pace = {
  fullGroup: 50,
  pauseAfter: (commitMs) => Math.min(10, 3 * commitMs),
}
const RETRY_MS = 20
const ATTEMPTS = 25

interface Waiting {
  readonly draft: Draft
  readonly resolve: (accepted: Accepted) => void
}

/**
 * Commits beacons in groups: those that arrive in one turn of the event loop, or in the pause after a commit,
 * share a transaction. `add` resolves once the beacon is on disk.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #pace: Pace
  #nextId: number
  #waiting: Waiting[] = []
  /** Whether a commit is under way or comes next. */
  #isScheduled = false
  #committing: Promise<void> | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #notBefore = 0
  #attempts = 0

  constructor(options: JournalOptions) {
    this.#options = options
    this.#pace = options.pace ?? LOCAL_PACE
    this.#nextId = options.firstId
  }

  add(draft: Draft): Promise<Accepted> {
    const { promise, resolve } = Promise.withResolvers<Accepted>()
    this.#waiting.push({ draft, resolve })
    this.#schedule()
    return promise
  }

  /** Commits all waiting beacons. */
  async close(): Promise<void> {
    while (this.#waiting.length > 0) {
      this.#attempts = ATTEMPTS
      await this.#commitNext()
    }
  }

  #schedule(): void {
    if (this.#isScheduled || this.#waiting.length === 0) return
    const isFull = this.#waiting.length >= this.#pace.fullGroup && this.#attempts === 0
    const pause = isFull ? 0 : this.#notBefore - performance.now()
    if (pause <= 0) {
      this.#isScheduled = true
      setImmediate(this.#run)
    } else this.#timer ??= setTimeout(this.#run, Math.ceil(pause))
  }

  readonly #run = async () => {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#isScheduled = true
    await this.#commitNext()
    this.#isScheduled = false
    this.#schedule()
  }

  /** Commits a group, unless a commit is under way: then it waits for that one. */
  async #commitNext(): Promise<void> {
    this.#committing ??= this.#commit().finally(() => {
      this.#committing = undefined
    })
    await this.#committing
  }

  async #commit(): Promise<void> {
    const batch = this.#waiting.slice(0, BATCH)
    if (batch.length === 0) return
    const entries = this.#toEntries(batch)
    let commitMs: number
    try {
      commitMs = await this.#options.write(entries)
    } catch (error) {
      this.#fail(batch, error)
      return
    }
    this.#notBefore = performance.now() + this.#pace.pauseAfter(commitMs)
    this.#attempts = 0
    this.#options.committed?.(entries)
    this.#settle(batch, 'stored')
  }

  #toEntries(batch: readonly Waiting[]): Entry[] {
    return batch.map(({ draft }, index) => ({ ...draft, id: this.#nextId + index }))
  }

  #settle(batch: readonly Waiting[], accepted: Accepted): void {
    this.#waiting.splice(0, batch.length)
    this.#nextId += batch.length
    for (const { resolve } of batch) resolve(accepted)
  }

  /** Retries for half a second while another process holds the lock. */
  #fail(batch: readonly Waiting[], error: unknown): void {
    this.#attempts += 1
    if (this.#options.isLocked(error) && this.#attempts < ATTEMPTS) {
      this.#notBefore = performance.now() + RETRY_MS
      return
    }
    this.#attempts = 0
    this.#options.onError(error)
    this.#settle(batch, 'failed')
  }
}
