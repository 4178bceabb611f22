import { SECOND_MS } from '../../parts/durations.ts'
import { ApiError } from '../../parts/errors.ts'
import { retry } from '../../parts/repeat.ts'
import { createSerialQueue } from '../../parts/serial-queue.ts'
import { rejectAfter } from '../../parts/with-timeout.ts'
import { type AnyTable, chunksOf } from './chunks.ts'
import type { CapNotice } from './notices.ts'
import type { WriteCounts } from './pending-counts.ts'
import { LedgerTable, type Line, type LineKind } from './table.ts'

/** Rows of one transaction; in SQLite, more would keep other writes waiting for long. */
const CHUNK = 1_000

const LONGEST_WAIT_MS = 5 * SECOND_MS

/**
 * Keeps everything that is counted in memory, and writes it in groups, not at every change. A flush writes the
 * changed lines of all tables in chunks, one transaction each. A chunk that fails waits again as a whole: nothing is
 * lost or written twice.
 */
export class Ledger {
  readonly #write: WriteCounts
  readonly #announce: (notice: CapNotice) => void
  readonly #rowsOfChunk: number
  readonly #tables: AnyTable[] = []
  /** How many rows wait for the next flush. */
  #waiting = 0
  /** How many the running flush has yet to write. */
  #inFlight = 0
  /** No change is older than this time, in monotonic milliseconds. */
  #since = 0
  /** With which page the next flush begins. */
  #firstPage = 0
  readonly #inSeries = createSerialQueue()
  readonly #stopping = new AbortController()

  /** `announce` gets the notices of each chunk. */
  constructor(
    write: WriteCounts,
    announce: (notice: CapNotice) => void,
    rowsOfChunk: number = CHUNK,
  ) {
    this.#write = write
    this.#announce = announce
    this.#rowsOfChunk = rowsOfChunk
  }

  /** Opens the table of a kind; once for each kind. */
  open<L extends Line>(kind: LineKind<L>): LedgerTable<L> {
    const table = new LedgerTable(kind, () => {
      if (this.size === 0) this.#since = performance.now()
      this.#waiting += 1
    })
    this.#tables.push(table)
    return table
  }

  /** Number of rows that are not on disk. */
  get size(): number {
    return this.#waiting + this.#inFlight
  }

  /** Upper bound of the time that a change has waited, in milliseconds; 0 if none waits. */
  get lagMs(): number {
    return this.size === 0 ? 0 : performance.now() - this.#since
  }

  /** Writes all lines that have changed by now. Rejects if that fails. */
  flush(): Promise<void> {
    return this.#inSeries(() => this.#flush())
  }

  /** Like `flush`, but tries again for `longestMs`. After that, it no longer waits for the database. */
  flushLast(longestMs = 0): Promise<void> {
    const { signal } = this.#stopping
    if (longestMs === 0) this.#stopping.abort()
    else setTimeout(() => this.#stopping.abort(), longestMs).unref()
    return this.#inSeries(() => retry(() => this.#flush(), signal))
  }

  /**
   * Runs `work` while nothing is being written, so that each count is either on disk or unwritten. Rejects with
   * 503 if that takes seconds, such as while the database is away.
   */
  betweenFlushes<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return rejectAfter(this.#inSeries(work), LONGEST_WAIT_MS, countsUnavailable)
  }

  async #flush(): Promise<void> {
    const startedAt = performance.now()
    const left = chunksOf(this.#tables, this.#firstPage, this.#rowsOfChunk)
    this.#inFlight = this.#waiting
    this.#waiting = 0
    try {
      for (let chunk = left[0]; chunk !== undefined; chunk = left[0]) {
        const { notices, totals } = await this.#write(chunk.collect(), this.#stopping.signal)
        left.shift()
        this.#inFlight -= chunk.size
        chunk.written(totals)
        notices.forEach(this.#announce)
      }
      this.#since = Math.max(this.#since, startedAt)
    } finally {
      // First the others, so that a chunk that fails again does not keep them from being written.
      const [failed, ...others] = left
      this.#firstPage = others[0]?.page ?? 0
      for (const chunk of others) chunk.giveBack()
      failed?.giveBack()
      for (const table of this.#tables) table.end()
      this.#inFlight = 0
    }
  }
}

function countsUnavailable(): ApiError {
  return new ApiError('SERVICE_UNAVAILABLE', 'The counts cannot be read now; try again later')
}
