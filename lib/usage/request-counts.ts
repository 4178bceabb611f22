import { dayOf } from '../config/period.ts'
import type { Unwritten } from '../db/use-flusher.ts'
import type { Uses } from '../db/uses.ts'

export type RequestCounts = ReturnType<typeof createRequestCounts>

/**
 * Counts requests by operation and status, for each key and for all sessions of each user. Kept in memory,
 * and written with the other counters. `write` queues an item to be written: see `UseFlusher.add`.
 */
export function createRequestCounts(write: (item: Unwritten) => void) {
  const senders = new Map<string, Sender>()
  const addSender = (id: string, userId: string, keyId: string | null) => {
    const sender = new Sender(userId, keyId, write)
    senders.set(id, sender)
    return sender
  }
  return {
    /** Finds or opens the counters of a key or, if `keyId` is null, of all sessions of the user. */
    findSender: (userId: string, keyId: string | null): Sender => {
      const id = keyId ?? `user:${userId}`
      return senders.get(id) ?? addSender(id, userId, keyId)
    },
    /** Forgets the counters that are written. */
    removeWritten: (): void => {
      // A long request may still use a sender that is forgotten here: it writes what it counts all the same.
      for (const [id, sender] of senders) {
        if (sender.removeWritten()) senders.delete(id)
      }
    },
  }
}

/** The requests on one day that an operation answered with one status. */
interface Counter {
  readonly day: number
  readonly operation: string
  readonly status: number
  /** Neither written nor being written. */
  requests: number
  /** Being written. */
  inFlight: number
}

/** The requests of a key, or of the sessions of a user. */
export class Sender implements Unwritten {
  readonly #userId: string
  readonly #keyId: string
  readonly #write: (item: Unwritten) => void
  /** Usually one: few senders use several operations within a minute. */
  #counters: Counter[] = []
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

  #find(operation: string, status: number, day: number): Counter {
    for (const counter of this.#counters) {
      if (counter.operation === operation && counter.status === status && counter.day === day) {
        return counter
      }
    }
    const counter = { day, operation, status, requests: 0, inFlight: 0 }
    this.#counters.push(counter)
    return counter
  }

  #queue(): void {
    if (this.#isQueued) return
    this.#isQueued = true
    this.#write(this)
  }

  collect({ operations }: Uses): void {
    const [userId, keyId] = [this.#userId, this.#keyId]
    for (const counter of this.#counters) {
      const { day, operation, status, requests } = counter
      if (requests > 0) operations.push({ userId, keyId, day, operation, status, requests })
      counter.inFlight = requests
      counter.requests = 0
    }
    this.#isQueued = false
  }

  written(): void {
    for (const counter of this.#counters) counter.inFlight = 0
  }

  notWritten(): void {
    for (const counter of this.#counters) {
      counter.requests += counter.inFlight
      counter.inFlight = 0
    }
    this.#queue()
  }

  /** Forgets the counters that are written. Returns whether none is left. */
  removeWritten(): boolean {
    this.#counters = this.#counters.filter(({ requests, inFlight }) => requests + inFlight > 0)
    return this.#counters.length === 0
  }
}
