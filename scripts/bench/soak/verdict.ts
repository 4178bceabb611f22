import { markdownTable, median } from '../table.ts'
import type { Tally } from './client.ts'
import type { Held } from './watch.ts'

export interface SoakRow extends Tally, Held {
  /** Since the beginning, at the end of the row. */
  readonly minutes: number
  /** Processor time of the server per request, in microseconds: the same however busy others are. */
  readonly cpu: number
}

export interface Verdict {
  readonly text: string
  readonly holds: boolean
}

/** While caches fill, files are touched and code is compiled. */
const WARM_UP_SHARE = 1 / 6

/** What may grow from the first third after the warm-up to the last, and by how much. */
const ALLOWED = [
  ['memory of its own, MB', 'anonMegabytes', 1.1],
  ['mapped files, MB', 'fileMegabytes', 1.1],
  ['heap in use, MB', 'heapMegabytes', 1.1],
  ['p99 ms', 'p99', 1.5],
  ['CPU µs/request', 'cpu', 1.2],
] as const

/** Whether nothing failed, and memory and p99 are at the end as they were at the beginning. */
export function judge(rows: readonly SoakRow[]): Verdict {
  const steady = rows.slice(Math.ceil(rows.length * WARM_UP_SHARE))
  const third = Math.floor(steady.length / 3)
  const table = ALLOWED.map(([name, field, allowed]) => {
    const of = (part: readonly SoakRow[]) => median(part.map((row) => row[field]))
    const first = of(steady.slice(0, third))
    const last = of(steady.slice(-third))
    return { name, first, last, ratio: last / first, allowed }
  })
  const errors = rows.reduce((sum, row) => sum + row.errors, 0)
  const holds = errors === 0 && table.every(({ ratio, allowed }) => ratio <= allowed)
  const titles = ['', 'first third', 'last third', 'ratio', 'allowed']
  const shown = table.map(({ name, first, last, ratio, allowed }) => [
    name,
    first,
    last,
    ratio,
    allowed,
  ])
  const verdict = holds ? 'holds' : 'does not hold'
  return {
    holds,
    text: `${markdownTable(titles, shown)}\nErrors: ${errors}. Verdict: ${verdict}.\n`,
  }
}
