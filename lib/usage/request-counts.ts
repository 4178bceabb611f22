import { dayOf } from '../config/period.ts'
import type { Unwritten } from '../db/use-flusher.ts'
import type { Uses } from '../db/uses.ts'

export type RequestCounts = ReturnType<typeof createRequestCounts>

/**
 * Counts requests by operation and status, for each key and for all sessions of each user. Kept in memory,
 * and written with the other counters. `write` queues an item to be written: see `UseFlusher.add`.
 */
export function createRequestCounts(write: (item: Unwritten) => void) {
  const counters = new Map<string, RequestCounter>()
  const addCounter = (id: string, userId: string, keyId: string | null) => {
    const counter = new RequestCounter(userId, keyId, write)
    counters.set(id, counter)
    return counter
  }
  return {
    /** Finds or opens the counter of a key or, if `keyId` is null, of all sessions of the user. */
    findCounter: (userId: string, keyId: string | null): RequestCounter => {
      const id = keyId ?? `user:${userId}`
      return counters.get(id) ?? addCounter(id, userId, keyId)
    },
    /** Forgets the counters whose counts are all written. */
    removeWritten: (): void => {
      // A long request may still use a counter that is forgotten here: what it counts is written all the same.
      for (const [id, counter] of counters) {
        if (counter.removeWritten()) counters.delete(id)
      }
    },
  }
}

/** The requests on one day that an operation answered with one status. */
interface DayCount {
  readonly day: number
  readonly operation: string
  readonly status: number
  /** Neither written nor being written. */
  requests: number
  /** Being written. */
  inFlight: number
}

/** Counts the requests of a key, or of the sessions of a user. */
export class RequestCounter implements Unwritten {
  readonly #userId: string
  readonly #keyId: string
  readonly #write: (item: Unwritten) => void
  /** Usually one: few callers use several operations within a minute. */
  #counts: DayCount[] = []
  #isQueued = false

  /** `keyId` is null for sessions. */
  constructor(userId: string, keyId: string | null, write: (item: Unwritten) => void) {
    this.#userId = userId
    this.#keyId = keyId ?? ''
    this.#write = write
  }

  /** Counts requests at `now`, in epoch milliseconds. Called for every request, so it must be quick. */
  count(operation: string, status: number, now: number, requests = 1): void {
    this.#find(operation, status, dayOf(now)).requests += requests
    this.#queue()
  }

  #find(operation: string, status: number, day: number): DayCount {
    for (const count of this.#counts) {
      if (count.operation === operation && count.status === status && count.day === day) {
        return count
      }
    }
    const count = { day, operation, status, requests: 0, inFlight: 0 }
    this.#counts.push(count)
    return count
  }

  #queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#write(this)
  }

  collect({ operations }: Uses): void {
    const [userId, keyId] = [this.#userId, this.#keyId]
    for (const count of this.#counts) {
      const { day, operation, status, requests } = count
      if (requests > 0) operations.push({ userId, keyId, day, operation, status, requests })
      count.inFlight = requests
      count.requests = 0
    }
    this.#isQueued = false
  }

  written(): void {
    for (const count of this.#counts) count.inFlight = 0
  }

  notWritten(): void {
    for (const count of this.#counts) {
      count.requests += count.inFlight
      count.inFlight = 0
    }
    this.#queue()
  }

  /** Forgets the counts that are written. Returns whether none is left. */
  removeWritten(): boolean {
    this.#counts = this.#counts.filter(({ requests, inFlight }) => requests + inFlight > 0)
    return this.#counts.length === 0
  }
}
