import type { MovedRows } from '../../lib/storage/move/rows.ts'
import { jsonText } from '../parts/json-text.ts'
import { report } from '../parts/run.ts'

const SHOW_MS = 200
const CLEAR_LINE = '\r\u001b[K'
const NAME_WIDTH = 24
const COUNT_WIDTH = 10

/**
 * Prints what a move copies: a line for each table to stdout, or all of them as JSON at the end. A terminal
 * shows the table that is being copied.
 */
export function watchMove(format: 'json' | 'lines') {
  const { stderr, stdout } = process
  const moved: MovedRows[] = []
  const startedAt = performance.now()
  let shownAt = 0
  return {
    onRows: (table: string, rows: number): void => {
      if (!stderr.isTTY || performance.now() < shownAt + SHOW_MS) return
      shownAt = performance.now()
      stderr.write(`${CLEAR_LINE}${lineOf(table, rows)}`)
    },
    onTable: (rows: MovedRows): void => {
      moved.push(rows)
      if (format === 'json') return
      if (stderr.isTTY) stderr.write(CLEAR_LINE)
      stdout.write(`${lineOf(rows.table, rows.rows)}  ${rows.ok ? 'ok' : 'DIFFERENT'}\n`)
    },
    /** Prints the JSON, also after an error. */
    [Symbol.dispose]: (): void => {
      if (format === 'json') stdout.write(jsonText(moved))
    },
    /** Says that all is done. */
    finish: (done: string): void => {
      const seconds = (performance.now() - startedAt) / 1_000
      const rows = moved.reduce((sum, table) => sum + table.rows, 0)
      const speed = `in ${seconds.toFixed(1)} s, ${Math.round(rows / seconds)} per second`
      report(`${done} ${rows} rows of ${moved.length} tables, all the same on both sides, ${speed}`)
    },
  }
}

function lineOf(table: string, rows: number): string {
  return `${table.padEnd(NAME_WIDTH)}${String(rows).padStart(COUNT_WIDTH)} rows`
}
