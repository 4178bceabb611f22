import { dayOf } from '../config/period.ts'
import { tablePageOf, type Unwritten, type UseFlusher } from '../db/use-flusher.ts'
import type { Uses } from '../db/uses.ts'
import { runInSlices } from '../in-slices.ts'

export type RequestCounts = ReturnType<typeof createRequestCounts>

/**
 * Counts requests by operation and status, for each key and for all sessions of each user. Kept in memory,
 * and written with the other counters by `flusher`.
 */
export function createRequestCounts(flusher: Pick<UseFlusher, 'add' | 'waitingAt'>) {
  const counters = new Map<string, RequestCounter>()
  const addCounter = (id: string, userId: string, keyId: string | null) => {
    const counter = new RequestCounter(flusher.add, userId, keyId)
    counters.set(id, counter)
    return counter
  }
  return {
    /** Finds or opens the counter of a key or, if `keyId` is null, of all sessions of the user. */
    findCounter: (userId: string, keyId: string | null): RequestCounter => {
      const id = keyId ?? `user:${userId}`
      return counters.get(id) ?? addCounter(id, userId, keyId)
    },
    /** Returns the counts of the user that wait to be written: all that are not, if no write is under way. */
    waitingOf: (userId: string): readonly DayCount[] =>
      flusher
        .waitingAt(tablePageOf(userId))
        .filter((item) => item instanceof RequestCounter)
        .filter((counter) => counter.userId === userId)
        .flatMap(({ counts }) => counts),
    /** Forgets the counters whose counts are all written. */
    removeWritten: () => runInSlices(removeWritten(counters)),
  }
}

function* removeWritten(counters: Map<string, RequestCounter>): Generator<void, void> {
  // A long request may still use a counter that is forgotten here: what it counts is written all the same.
  for (const [id, counter] of counters) {
    if (counter.removeWritten()) counters.delete(id)
    yield
  }
}

/** How many requests an operation has answered with one status. */
export interface AnswerCount {
  readonly operation: string
  readonly status: number
  readonly requests: number
  /** How many look-ups of them count towards the cap: each address of a batch is one. */
  readonly lookUps: number
}

/** The count of one day, without what is being written. */
interface DayCount extends AnswerCount {
  readonly day: number
}

interface OpenCount extends DayCount {
  requests: number
  lookUps: number
  /** What is being written. */
  requestsInFlight: number
  lookUpsInFlight: number
}

/** Counts the requests of a key, or of the sessions of a user. */
export class RequestCounter implements Unwritten {
  readonly userId: string
  readonly place: number
  readonly #keyId: string
  readonly #write: (item: Unwritten) => void
  /** Usually one: few callers use several operations within a minute. */
  #counts: OpenCount[] = []
  #isQueued = false

  /** `write` queues an item to be written: see `UseFlusher.add`. `keyId` is null for sessions. */
  constructor(write: (item: Unwritten) => void, userId: string, keyId: string | null) {
    this.userId = userId
    this.place = tablePageOf(userId)
    this.#keyId = keyId ?? ''
    this.#write = write
  }

  get counts(): readonly DayCount[] {
    return this.#counts
  }

  /** Counts requests at `now`, in epoch milliseconds. Called for every request, so it must be quick. */
  count({ operation, status, requests, lookUps }: AnswerCount, now: number): void {
    const count = this.#find(operation, status, dayOf(now))
    count.requests += requests
    count.lookUps += lookUps
    this.#queue()
  }

  #find(operation: string, status: number, day: number): OpenCount {
    for (const count of this.#counts) {
      if (count.operation === operation && count.status === status && count.day === day) {
        return count
      }
    }
    const none = { requests: 0, lookUps: 0, requestsInFlight: 0, lookUpsInFlight: 0 }
    const count = { day, operation, status, ...none }
    this.#counts.push(count)
    return count
  }

  #queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#write(this)
  }

  collect({ operations }: Uses): void {
    const { userId } = this
    const keyId = this.#keyId
    for (const count of this.#counts) {
      const { day, operation, status, requests, lookUps } = count
      if (requests > 0)
        operations.push({ userId, keyId, day, operation, status, requests, lookUps })
      count.requestsInFlight = requests
      count.lookUpsInFlight = lookUps
      count.requests = 0
      count.lookUps = 0
    }
    this.#isQueued = false
  }

  written(): void {
    for (const count of this.#counts) {
      count.requestsInFlight = 0
      count.lookUpsInFlight = 0
    }
  }

  notWritten(): void {
    for (const count of this.#counts) {
      count.requests += count.requestsInFlight
      count.lookUps += count.lookUpsInFlight
      count.requestsInFlight = 0
      count.lookUpsInFlight = 0
    }
    this.#queue()
  }

  /** Forgets the counts that are written. Returns whether none is left. */
  removeWritten(): boolean {
    this.#counts = this.#counts.filter((count) => count.requests + count.requestsInFlight > 0)
    return this.#counts.length === 0
  }
}
