import type { PendingCounts, PeriodTotal } from './pending-counts.ts'

/** How many pages there are. */
export const PAGES = 256

/**
 * Returns the page, from 0 to 255, of the rows of the user or key `id`, which begins with a hexadecimal
 * number; 0 for all others. Rows with the same page are close to each other in each table. A transaction
 * writes every page that it changes: rows in random order would change nearly as many pages as there are rows.
 */
export function tablePageOf(id: string): number {
  const high = hexDigit(id.charCodeAt(0))
  const low = hexDigit(id.charCodeAt(1))
  return high === null || low === null ? 0 : 16 * high + low
}

/** Each first use of a key in a minute asks for a page, and parsing its text would take a microsecond. */
function hexDigit(code: number): number | null {
  if (code >= 48 && code <= 57) return code - 48
  return code >= 97 && code <= 102 ? code - 87 : null
}

/** What is counted together, such as the requests of a user in a period. Only its table changes the fields. */
export class Line {
  readonly page: number
  /** The last flush that writes the line. */
  flush = 0
  /** Its row in the columns of that flush. */
  row = 0

  constructor(id: string) {
    this.page = tablePageOf(id)
  }
}

/** What all nodes have counted, by `periodId`. */
export type Totals = ReadonlyMap<string, PeriodTotal>

/** How the lines of a table are written. */
export interface LineKind<L extends Line> {
  /** How many sums a line has. */
  readonly sums: number
  /** Returns what to write of the rows. All other values of lines are read as they are now. */
  readonly toPending: (rows: Rows<L>) => Partial<PendingCounts>
  /** Called for each line that is on disk. */
  readonly written?: (line: L, totals: Totals | undefined) => void
}

/** Lines that were changed, and a column for each of their sums. */
interface Changes<L> {
  readonly lines: L[]
  readonly sums: Float64Array[]
}

/**
 * One kind of lines. Changes gather in columns, which a flush takes as a whole; later changes gather in new ones.
 * Sums change with each request, so they are numbers in columns: objects that live for a second cost the garbage
 * collector most.
 */
export class LedgerTable<L extends Line> {
  readonly kind: LineKind<L>
  readonly #opened: () => void
  #changes: Changes<L>
  #flush = 1
  #isWriting = false

  /** `opened` is called for each new row. */
  constructor(kind: LineKind<L>, opened: () => void) {
    this.kind = kind
    this.#opened = opened
    this.#changes = noChanges(kind.sums, 0)
  }

  /** The next flush writes the line. */
  touch(line: L): void {
    if (line.flush === this.#flush) return
    this.#opened()
    const { lines, sums } = this.#changes
    line.flush = this.#flush
    line.row = lines.push(line) - 1
    if (line.row >= (sums[0]?.length ?? Number.POSITIVE_INFINITY)) {
      this.#changes = { lines, sums: sums.map(twiceAsLong) }
    }
  }

  /** Adds to a sum of the line. */
  add(line: L, column: number, amount: number): void {
    this.touch(line)
    const sum = this.#changes.sums[column]
    if (sum !== undefined) sum[line.row] = (sum[line.row] ?? 0) + amount
  }

  /** Returns what was added to the sum and that no flush has taken yet. */
  waiting(line: L, column: number): number {
    return this.isWaiting(line) ? (this.#changes.sums[column]?.[line.row] ?? 0) : 0
  }

  /** Whether the line was changed since the last flush began. */
  isWaiting(line: L): boolean {
    return line.flush === this.#flush
  }

  isWritten(line: L): boolean {
    return line.flush < (this.#isWriting ? this.#flush - 1 : this.#flush)
  }

  /** The lines of a page that were changed since the last flush began. */
  waitingOn(page: number): L[] {
    return this.#changes.lines.filter((line) => line.page === page)
  }

  /**
   * Takes all changes, ordered by page. The rows of `firstPage` come first, at place 0. Call `end` once all are
   * written or given back.
   */
  takeAll(firstPage: number): TakenRows<L> {
    const { lines, sums } = this.#changes
    this.#changes = noChanges(this.kind.sums, lines.length)
    this.#flush += 1
    this.#isWriting = true
    return new TakenRows(this, { lines, sums }, firstPage)
  }

  /** Adds rows that were not written to those that wait. */
  giveBack(rows: Rows<L>): void {
    for (const line of rows.lines) this.touch(line)
    for (let column = 0; column < this.kind.sums; column++) {
      const sum = rows.sum(column)
      for (const [at, line] of rows.lines.entries()) this.add(line, column, sum[at] ?? 0)
    }
  }

  end(): void {
    this.#isWriting = false
  }
}

function noChanges<L>(width: number, expected: number): Changes<L> {
  const sums = Array.from({ length: width }, () => new Float64Array(Math.max(16, expected)))
  return { lines: [], sums }
}

function twiceAsLong(list: Float64Array): Float64Array {
  const longer = new Float64Array(list.length * 2)
  longer.set(list)
  return longer
}

/** The rows of a flush, in the order of their places. */
class TakenRows<L extends Line> {
  /** Where the rows of each place begin; at the end, their number. */
  readonly starts = new Uint32Array(PAGES + 1)
  readonly #table: LedgerTable<L>
  readonly #changes: Changes<L>
  /** The rows in order. */
  readonly #order: Uint32Array

  constructor(table: LedgerTable<L>, changes: Changes<L>, firstPage: number) {
    const { starts } = this
    const { lines } = changes
    const placeOf = ({ page }: L) => (page - firstPage + PAGES) % PAGES
    for (const line of lines) add(starts, placeOf(line) + 1, 1)
    for (let place = 0; place < PAGES; place++) add(starts, place + 1, starts[place] ?? 0)
    const next = starts.slice()
    const order = new Uint32Array(lines.length)
    let row = 0
    for (const line of lines) order[add(next, placeOf(line), 1)] = row++
    this.#table = table
    this.#changes = changes
    this.#order = order
  }

  /** Returns some of the rows in order. */
  slice(from: number, to: number): Rows<L> {
    return new Rows(this.#table, this.#changes, this.#order.subarray(from, to))
  }
}

/** `Array.from` and `map` of typed arrays are several times as slow. */
function pick<L>(lines: readonly L[], rows: Uint32Array): L[] {
  const picked: L[] = []
  for (let at = 0; at < rows.length; at++) {
    const line = lines[rows[at] ?? 0]
    if (line !== undefined) picked.push(line)
  }
  return picked
}

/** Adds to a number of the list. Returns what it was before. */
function add(list: Uint32Array, at: number, amount: number): number {
  const before = list[at] ?? 0
  list[at] = before + amount
  return before
}

/** Some rows of a flush, which one transaction writes. */
export class Rows<L extends Line> {
  readonly lines: readonly L[]
  readonly #table: LedgerTable<L>
  readonly #changes: Changes<L>
  readonly #rows: Uint32Array

  constructor(table: LedgerTable<L>, changes: Changes<L>, rows: Uint32Array) {
    this.lines = pick(changes.lines, rows)
    this.#table = table
    this.#changes = changes
    this.#rows = rows
  }

  /** The rows whose lines meet the condition. */
  where(condition: (line: L) => boolean): Rows<L> {
    const { lines } = this.#changes
    const rows = this.#rows.filter((row) => {
      const line = lines[row]
      return line !== undefined && condition(line)
    })
    return new Rows(this.#table, this.#changes, rows)
  }

  /** A column of numbers of the lines. */
  numbers(of: (line: L) => number): Float64Array {
    const list = new Float64Array(this.lines.length)
    let at = 0
    for (const line of this.lines) list[at++] = of(line)
    return list
  }

  /** The column of a sum. */
  sum(column: number): Float64Array {
    const sums = this.#changes.sums[column] ?? new Float64Array(0)
    const list = new Float64Array(this.#rows.length)
    for (let at = 0; at < list.length; at++) list[at] = sums[this.#rows[at] ?? 0] ?? 0
    return list
  }

  collect(): Partial<PendingCounts> {
    return this.lines.length === 0 ? {} : this.#table.kind.toPending(this)
  }

  written(totals: Totals | undefined): void {
    const { written } = this.#table.kind
    if (written !== undefined) for (const line of this.lines) written(line, totals)
  }

  /** Lets the next flush write the rows. */
  giveBack(): void {
    this.#table.giveBack(this)
  }
}
