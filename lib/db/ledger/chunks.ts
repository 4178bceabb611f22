import {
  NOTHING_PENDING,
  type PendingCounts,
  type PeriodTotal,
  periodId,
} from './pending-counts.ts'
import { PAGES, type Totals } from './table.ts'

/** A table whose lines may be of any kind: see `LedgerTable`. */
export interface AnyTable {
  takeAll(firstPage: number): AnyTaken
  end(): void
}

interface AnyTaken {
  readonly starts: Uint32Array
  slice(from: number, to: number): AnyRows
}

interface AnyRows {
  collect(): Partial<PendingCounts>
  written(totals: Totals | undefined): void
  giveBack(): void
}

/** What one transaction writes: some rows of each table. */
class Chunk {
  /** The page of its first row. */
  readonly page: number
  size = 0
  readonly #ranges = new Map<AnyTaken, { readonly from: number; to: number }>()
  #parts: readonly AnyRows[] = []

  constructor(page: number) {
    this.page = page
  }

  /** Adds rows of a table, which follow those that were added last. */
  add(taken: AnyTaken, from: number, to: number): void {
    const range = this.#ranges.get(taken) ?? { from, to }
    range.to = to
    this.#ranges.set(taken, range)
    this.size += to - from
  }

  /** Returns what to write now. */
  collect(): PendingCounts {
    this.#parts = this.#rows()
    let pending = NOTHING_PENDING
    for (const part of this.#parts) pending = { ...pending, ...part.collect() }
    return pending
  }

  /** Notes that it was written. `totals` are what all nodes have counted. */
  written(totals: readonly PeriodTotal[] | undefined): void {
    const byId = totals && new Map(totals.map((total) => [periodId(total), total]))
    for (const part of this.#parts) part.written(byId)
  }

  /** Lets the next flush write it. */
  giveBack(): void {
    for (const part of this.#rows()) part.giveBack()
  }

  #rows(): readonly AnyRows[] {
    return [...this.#ranges].map(([taken, { from, to }]) => taken.slice(from, to))
  }
}

/**
 * Takes all rows of the tables in chunks of at most `most` rows, in the order of their pages. So a chunk has rows of
 * all tables that belong to the same users.
 */
export function chunksOf(tables: readonly AnyTable[], firstPage: number, most: number): Chunk[] {
  const taken = tables.map((table) => table.takeAll(firstPage))
  const chunks: Chunk[] = []
  for (let place = 0; place < PAGES; place++) {
    for (const table of taken) addRows(chunks, table, place, { firstPage, most })
  }
  return chunks
}

/** Adds the rows of a place to the last chunk. What does not fit goes into new ones. */
function addRows(
  chunks: Chunk[],
  table: AnyTaken,
  place: number,
  { firstPage, most }: { readonly firstPage: number; readonly most: number },
): void {
  const end = table.starts[place + 1] ?? 0
  for (let from = table.starts[place] ?? 0; from < end; ) {
    const last = chunks.at(-1)
    const chunk =
      last === undefined || last.size === most ? new Chunk((firstPage + place) % PAGES) : last
    if (chunk !== last) chunks.push(chunk)
    const to = Math.min(end, from + most - chunk.size)
    chunk.add(table, from, to)
    from = to
  }
}
