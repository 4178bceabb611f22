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
    const sender = new Sender(userId, keyId, {
      write,
      // A long request may still use a sender that was forgotten and replaced: only the current one goes.
      forget: (idle) => {
        if (senders.get(id) === idle) senders.delete(id)
      },
    })
    senders.set(id, sender)
    return sender
  }
  return {
    /** Finds or opens the counters of a key or, if `keyId` is null, of all sessions of the user. */
    findSender: (userId: string, keyId: string | null): Sender => {
      const id = keyId ?? `user:${userId}`
      return senders.get(id) ?? addSender(id, userId, keyId)
    },
  }
}

interface SenderOptions {
  readonly write: (item: Unwritten) => void
  /** Called once everything is written. */
  readonly forget: (sender: Sender) => void
}

/** The requests on one day that an operation answered with one status. */
interface Counter {
  readonly day: number
  readonly operation: string
  readonly status: number
  requests: number
}

/** The requests of a key, or of the sessions of a user, that are not written yet. */
export class Sender implements Unwritten {
  readonly #userId: string
  readonly #keyId: string | null
  readonly #options: SenderOptions
  /** Usually one: few senders use several operations within a second. */
  #counters: Counter[] = []
  #inFlight: readonly Counter[] = []

  constructor(userId: string, keyId: string | null, options: SenderOptions) {
    this.#userId = userId
    this.#keyId = keyId
    this.#options = options
  }

  /** Counts requests at `now`, in epoch milliseconds. Called for every request, so it must be quick. */
  count(operation: string, status: number, now: number, requests = 1): void {
    this.#add({ day: dayOf(now), operation, status, requests })
  }

  #add(added: Counter): void {
    for (const counter of this.#counters) {
      if (isAlike(counter, added)) {
        counter.requests += added.requests
        return
      }
    }
    if (this.#counters.length === 0) this.#options.write(this)
    this.#counters.push(added)
  }

  collect({ operations }: Uses): void {
    const [userId, keyId] = [this.#userId, this.#keyId ?? '']
    for (const counter of this.#counters) operations.push({ userId, keyId, ...counter })
    this.#inFlight = this.#counters
    this.#counters = []
  }

  written(): void {
    this.#inFlight = []
    if (this.#counters.length === 0) this.#options.forget(this)
  }

  notWritten(): void {
    for (const counter of this.#inFlight) this.#add(counter)
    this.#inFlight = []
  }
}

function isAlike(one: Counter, other: Counter): boolean {
  return one.operation === other.operation && one.status === other.status && one.day === other.day
}
