import { dayOf } from '../config/period.ts'
import type { Ledger } from '../db/ledger/ledger.ts'
import { type LedgerTable, Line, type LineKind, tablePageOf } from '../db/ledger/table.ts'
import { runInSlices } from '../parts/time-slices.ts'

export type RequestCounts = ReturnType<typeof createRequestCounts>

/**
 * Counts requests by operation and status, for each key and for all sessions of each user. Kept in memory,
 * and written with the other counters.
 */
export function createRequestCounts(ledger: Pick<Ledger, 'open'>) {
  const counters = new Map<string, RequestCounter>()
  const table = ledger.open(OPERATIONS)
  const addCounter = (id: string, userId: string, keyId: string | null) => {
    const counter = new RequestCounter(table, userId, keyId)
    counters.set(id, counter)
    return counter
  }
  return {
    /** Finds or opens the counter of a key or, if `keyId` is null, of all sessions of the user. */
    findCounter: (userId: string, keyId: string | null): RequestCounter => {
      const id = keyId ?? `user:${userId}`
      return counters.get(id) ?? addCounter(id, userId, keyId)
    },
    /** The last use of a key that is in memory, in epoch milliseconds; 0: none. */
    lastUseOf: (keyId: string): number => counters.get(keyId)?.usedAt ?? 0,
    /** Returns the look-ups of the user that wait to be written. Those that are being written are missing. */
    waitingOf: (userId: string) =>
      table
        .waitingOn(tablePageOf(userId))
        .filter(({ counter }) => counter.userId === userId)
        .map((count) => ({ day: count.day, lookUps: table.waiting(count, LOOK_UPS) })),
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

/** The sums of a count. */
const [REQUESTS, LOOK_UPS] = [0, 1]

const OPERATIONS: LineKind<OperationCount> = {
  sums: 2,
  toPending: (rows) => ({
    operations: {
      userId: rows.lines.map(({ counter }) => counter.userId),
      keyId: rows.lines.map(({ counter }) => counter.keyId),
      day: rows.numbers(({ day }) => day),
      operation: rows.lines.map(({ operation }) => operation),
      status: rows.numbers(({ status }) => status),
      requests: rows.sum(REQUESTS),
      lookUps: rows.sum(LOOK_UPS),
      usedAt: rows.numbers(({ counter }) => counter.usedAt),
    },
  }),
}

/** The requests of a caller in a day that an operation has answered with the same status. */
class OperationCount extends Line {
  readonly counter: RequestCounter
  readonly day: number
  readonly operation: string
  readonly status: number
  /** Another one of the same counter. */
  next: OperationCount | undefined

  constructor({ counter, day, operation, status, next }: Omit<OperationCount, keyof Line>) {
    super(counter.userId)
    this.counter = counter
    this.day = day
    this.operation = operation
    this.status = status
    this.next = next
  }
}

/** Counts the requests of a key, or of the sessions of a user. */
export class RequestCounter {
  readonly userId: string
  /** Empty for sessions. */
  readonly keyId: string
  readonly #table: LedgerTable<OperationCount>
  #usedAt = 0
  /** Whether a request was admitted that is not counted yet. */
  #isInUse = false
  /** Usually the only one: few callers use several operations within a minute. A list would take twice the memory. */
  #latest: OperationCount | undefined

  /** `keyId` is null for sessions. */
  constructor(table: LedgerTable<OperationCount>, userId: string, keyId: string | null) {
    this.#table = table
    this.userId = userId
    this.keyId = keyId ?? ''
  }

  /** The last use of the key that the counter has seen, in epoch milliseconds; 0: none. */
  get usedAt(): number {
    return this.#usedAt
  }

  /** Records that the key was admitted at `now`. The next count writes it. */
  use(now: number): void {
    if (now > this.#usedAt) this.#usedAt = now
    this.#isInUse = true
  }

  /** Counts requests at `now`, in epoch milliseconds. Called for every request, so it must be quick. */
  count({ operation, status, requests, lookUps }: AnswerCount, now: number): void {
    this.#isInUse = false
    const count = this.#find(operation, status, dayOf(now))
    this.#table.add(count, REQUESTS, requests)
    this.#table.add(count, LOOK_UPS, lookUps)
  }

  #find(operation: string, status: number, day: number): OperationCount {
    for (let count = this.#latest; count !== undefined; count = count.next) {
      if (count.operation === operation && count.status === status && count.day === day) {
        return count
      }
    }
    const next = this.#latest
    this.#latest = new OperationCount({ counter: this, day, operation, status, next })
    return this.#latest
  }

  /** Forgets the counts that are written. Returns whether none is left, and no use waits for its count. */
  removeWritten(): boolean {
    this.#latest = this.#unwritten(this.#latest)
    return this.#latest === undefined && !this.#isInUse
  }

  /** Returns the first unwritten of the count and those after it, followed by the other unwritten ones. */
  #unwritten(count: OperationCount | undefined): OperationCount | undefined {
    if (count === undefined) return undefined
    count.next = this.#unwritten(count.next)
    return this.#table.isWritten(count) ? count.next : count
  }
}
