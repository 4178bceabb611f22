import { printable, textTable } from '../parts/text-table.ts'
import type { Measurement } from './measurement.ts'
import { suggestionLines } from './suggestion-text.ts'
import { COUNTS, type FigureTable, makeTables } from './tables.ts'
import { introduction, weightsOf } from './words.ts'

/** The figures for people, as plain text. */
export function reportText(measurement: Measurement): string {
  const { sources, calibration, disagreements } = makeTables(measurement)
  const { truth, suggestion } = measurement
  return [
    linesText(introduction(measurement)),
    ...[...sources, ...calibration, disagreements].map(tableText),
    ...(suggestion === undefined ? [] : [linesText(suggestionLines(suggestion, weightsOf(truth)))]),
  ].join('\n')
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${printable(line)}\n`).join('')
}

function tableText({ title, heads, rows }: FigureTable): string {
  if (rows.length === 0) return `${title}\n`
  const columns = heads.map(
    (head, at) => [head, (cells: readonly string[]) => cells[at] ?? ''] as const,
  )
  return `${title}\n${textTable(rows, Object.fromEntries(columns), Object.values(COUNTS))}`
}
