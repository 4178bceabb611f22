import { csvFormatRow } from 'd3-dsv'
import { csvCell } from '../../contract/geo/csv-cell.ts'
import { valueAt } from '../../contract/value-at.ts'
import { type Cell, resultColumns } from './result-csv.ts'
import type { Json } from './select-fields.ts'
import type { AnswerOptions } from './shape.ts'

/** Writes the answers of `createAnswerJson` as rows of CSV (RFC 4180), each with a newline. */
export function createCsvLines(options: AnswerOptions) {
  const { names, cellsOf } = answerColumns(options)
  return {
    header: toLine(names),
    line: (answer: string) => toLine(cellsOf(JSON.parse(answer))),
  }
}

/** The columns of an answer: address, result and error. Cells of unknown values are empty. */
export function answerColumns(options: AnswerOptions) {
  const { names, cellsOf } = resultColumns(options)
  return {
    names: ['ip', ...names, 'error'],
    cellsOf: (answer: Json): Cell[] => [
      textAt(answer, 'query.value'),
      ...cellsOf(answer),
      textAt(answer, 'error.message'),
    ],
  }
}

function textAt(answer: Json, path: string): string | undefined {
  const value = valueAt(answer, path)
  return typeof value === 'string' ? value : undefined
}

function toLine(cells: readonly Cell[]): string {
  return `${csvFormatRow(cells.map(csvCell))}\n`
}
