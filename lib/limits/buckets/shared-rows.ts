import type { Bucket } from './token-bucket.ts'

/** States of a lock. */
const FREE = 0
const HELD = 1
/** Held, and another thread sleeps until it is free. */
const AWAITED = 2

/** How often to try a lock before sleeping: threads hold it for less than a microsecond. */
const SPINS = 200

const NUMBERS = 2

/**
 * Pairs of numbers that several threads change, each pair under its own lock. All threads see the number
 * `epoch`: once it changes, they must forget what they know about the use of the rows.
 */
export class SharedRows {
  readonly memory: SharedArrayBuffer
  readonly count: number
  readonly #locks: Int32Array
  readonly #numbers: Float64Array

  constructor(memory: SharedArrayBuffer) {
    const bytes = NUMBERS * Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT
    this.memory = memory
    this.count = Math.floor((memory.byteLength - Int32Array.BYTES_PER_ELEMENT) / bytes)
    this.#numbers = new Float64Array(memory, 0, this.count * NUMBERS)
    // The last element is the epoch.
    this.#locks = new Int32Array(memory, this.#numbers.byteLength, this.count + 1)
  }

  /** `count` must be even. */
  static make(count: number): SharedRows {
    const bytes = NUMBERS * Float64Array.BYTES_PER_ELEMENT + Int32Array.BYTES_PER_ELEMENT
    return new SharedRows(new SharedArrayBuffer(count * bytes + Int32Array.BYTES_PER_ELEMENT))
  }

  get epoch(): number {
    return Atomics.load(this.#locks, this.count)
  }

  endEpoch(): void {
    Atomics.add(this.#locks, this.count, 1)
  }

  first(row: number): number {
    return this.#numbers[row * NUMBERS] ?? 0
  }

  setFirst(row: number, value: number): void {
    this.#numbers[row * NUMBERS] = value
  }

  second(row: number): number {
    return this.#numbers[row * NUMBERS + 1] ?? 0
  }

  setSecond(row: number, value: number): void {
    this.#numbers[row * NUMBERS + 1] = value
  }

  /** Waits until no other thread holds the row. `unlock` must follow in the same turn of the event loop. */
  lock(row: number): void {
    for (let spin = 0; spin < SPINS; spin++) {
      if (Atomics.compareExchange(this.#locks, row, FREE, HELD) === FREE) return
    }
    while (Atomics.exchange(this.#locks, row, AWAITED) !== FREE) {
      Atomics.wait(this.#locks, row, AWAITED)
    }
  }

  unlock(row: number): void {
    if (Atomics.exchange(this.#locks, row, FREE) === AWAITED) Atomics.notify(this.#locks, row, 1)
  }
}

/**
 * The rows of a caller: its own bucket, the bucket of all keys of the user, and the counter. Other threads
 * may use them until `until`, in epoch milliseconds.
 */
export interface SharedMeters {
  readonly own: number
  readonly all: number
  readonly counter: number
  readonly until: number
}

/** Gives out rows to one thread's objects. */
export type RowPool = ReturnType<typeof createRowPool>

export function createRowPool(rows: SharedRows) {
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
export class SharedBucket implements Bucket {
  readonly rows: SharedRows
  readonly row: number

  constructor(rows: SharedRows, row: number) {
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
  return bucket instanceof SharedBucket ? bucket.row : undefined
}
