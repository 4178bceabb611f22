import type { Bucket } from './token-bucket.ts'

/** States of a lock. */
const FREE = 0
const HELD = 1
/** Held, and another thread sleeps until it is free. */
const AWAITED = 2

/** How often to try a lock before sleeping: threads hold it for less than a microsecond. */
const SPINS = 200

/** A row has a cache line of its own: otherwise, threads that change different rows would slow each other. */
const ROW_BYTES = 64
/** The places of a row's numbers and of its lock, in elements of their arrays. */
const NUMBERS = ROW_BYTES / Float64Array.BYTES_PER_ELEMENT
const LOCKS = ROW_BYTES / Int32Array.BYTES_PER_ELEMENT
const FIRST = 0
const SECOND = 1
const LOCK = 4

/**
 * Pairs of numbers that several threads change, each pair under its own lock. All threads see the number
 * `epoch`: once it changes, they must forget what they know about the use of the rows.
 */
export class ThreadRows {
  readonly memory: SharedArrayBuffer
  readonly count: number
  readonly #locks: Int32Array
  readonly #numbers: Float64Array

  constructor(memory: SharedArrayBuffer) {
    this.memory = memory
    // The epoch comes after the last row.
    this.count = memory.byteLength / ROW_BYTES - 1
    this.#numbers = new Float64Array(memory)
    this.#locks = new Int32Array(memory)
  }

  static make(count: number): ThreadRows {
    return new ThreadRows(new SharedArrayBuffer((count + 1) * ROW_BYTES))
  }

  get epoch(): number {
    return Atomics.load(this.#locks, this.count * LOCKS)
  }

  endEpoch(): void {
    Atomics.add(this.#locks, this.count * LOCKS, 1)
  }

  first(row: number): number {
    return this.#numbers[row * NUMBERS + FIRST] ?? 0
  }

  setFirst(row: number, value: number): void {
    this.#numbers[row * NUMBERS + FIRST] = value
  }

  second(row: number): number {
    return this.#numbers[row * NUMBERS + SECOND] ?? 0
  }

  setSecond(row: number, value: number): void {
    this.#numbers[row * NUMBERS + SECOND] = value
  }

  /** Waits until no other thread holds the row. `unlock` must follow in the same turn of the event loop. */
  lock(row: number): void {
    const at = row * LOCKS + LOCK
    for (let spin = 0; spin < SPINS; spin++) {
      if (Atomics.compareExchange(this.#locks, at, FREE, HELD) === FREE) return
    }
    while (Atomics.exchange(this.#locks, at, AWAITED) !== FREE) {
      Atomics.wait(this.#locks, at, AWAITED)
    }
  }

  unlock(row: number): void {
    const at = row * LOCKS + LOCK
    if (Atomics.exchange(this.#locks, at, FREE) === AWAITED) Atomics.notify(this.#locks, at, 1)
  }
}

/**
 * The rows of a caller: its own bucket, the bucket of all keys of the user, and the counter. Other threads
 * may use them until `until`, in epoch milliseconds.
 */
export interface CallerRows {
  readonly own: number
  readonly all: number
  readonly counter: number
  readonly until: number
}

/** Gives out rows to one thread's objects. */
export type RowPool = ReturnType<typeof createRowPool>

export function createRowPool(rows: ThreadRows) {
  let next = 0
  const free: number[] = []
  /** Rows that other threads may still be using. */
  let released: number[] = []
  return {
    rows,
    /** undefined: all rows are in use. */
    take: (): number | undefined => {
      const row = free.pop()
      if (row !== undefined) return row
      if (next === rows.count) return undefined
      next += 1
      return next - 1
    },
    /** Ends the use of these rows. They can be taken again after the next call. */
    release: (unused: readonly number[]) => {
      free.push(...released)
      released = [...unused]
      if (unused.length > 0) rows.endEpoch()
    },
  }
}

/** A bucket that other threads use, too. Lock its row to change it. */
export class ThreadBucket implements Bucket {
  readonly rows: ThreadRows
  readonly row: number

  constructor(rows: ThreadRows, row: number) {
    this.rows = rows
    this.row = row
  }

  get spent(): number {
    return this.rows.first(this.row)
  }

  set spent(value: number) {
    this.rows.setFirst(this.row, value)
  }

  get at(): number {
    return this.rows.second(this.row)
  }

  set at(value: number) {
    this.rows.setSecond(this.row, value)
  }
}

export function rowOf(bucket: Bucket): number | undefined {
  return bucket instanceof ThreadBucket ? bucket.row : undefined
}
