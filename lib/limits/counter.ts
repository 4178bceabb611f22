import type { RowPool, ThreadRows } from './buckets/thread-rows.ts'

/** The requests of a user in a period. */
export interface Counter {
  readonly requests: number
  /** undefined: no other thread can use it. */
  readonly row: number | undefined
  add(requests: number): void
  set(requests: number): void
  /** Sets it to `requests` if that is more. */
  raise(requests: number): void
  /** Lets other threads count in the row until it reaches `cap`. */
  openToThreads(cap: number): void
}

/** A counter that all threads use; without a pool or a free row, one of this thread alone. */
export function createCounter(rowPool: RowPool | undefined, requests: number): Counter {
  const row = rowPool?.take()
  if (rowPool === undefined || row === undefined) return new LocalCounter(requests)
  const counter = new ThreadCounter(rowPool.rows, row)
  counter.set(requests)
  return counter
}

class LocalCounter implements Counter {
  readonly row = undefined
  requests: number

  constructor(requests: number) {
    this.requests = requests
  }

  add(requests: number): void {
    this.requests += requests
  }

  set(requests: number): void {
    this.requests = requests
  }

  raise(requests: number): void {
    this.requests = Math.max(this.requests, requests)
  }

  openToThreads(): void {}
}

class ThreadCounter implements Counter {
  readonly #rows: ThreadRows
  readonly row: number

  constructor(rows: ThreadRows, row: number) {
    this.#rows = rows
    this.row = row
  }

  get requests(): number {
    return this.#rows.first(this.row)
  }

  add(requests: number): void {
    this.#rows.lock(this.row)
    this.#rows.setFirst(this.row, this.requests + requests)
    this.#rows.unlock(this.row)
  }

  set(requests: number): void {
    this.#rows.lock(this.row)
    this.#rows.setFirst(this.row, requests)
    this.#rows.unlock(this.row)
  }

  raise(requests: number): void {
    this.#rows.lock(this.row)
    this.#rows.setFirst(this.row, Math.max(this.requests, requests))
    this.#rows.unlock(this.row)
  }

  openToThreads(cap: number): void {
    this.#rows.lock(this.row)
    this.#rows.setSecond(this.row, cap)
    this.#rows.unlock(this.row)
  }
}

/** Counts one request in the row of a counter. Returns false, and counts nothing, if the cap is reached. */
export function countBelowCap(rows: ThreadRows, row: number): boolean {
  rows.lock(row)
  const requests = rows.first(row)
  const isBelow = requests < rows.second(row)
  if (isBelow) rows.setFirst(row, requests + 1)
  rows.unlock(row)
  return isBelow
}
