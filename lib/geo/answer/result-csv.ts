import { csvFormatRow } from 'd3-dsv'
import { csvCell } from '../../contract/geo/csv-cell.ts'
import { CSV_FIELDS, INCLUDED_CSV_FIELDS } from '../../contract/geo/csv-fields.ts'
import { LIST_INCLUDES } from '../../contract/geo/includes.ts'
import { readerOf, valueAt } from '../../contract/value-at.ts'
import type { Json } from './select-fields.ts'
import type { AnswerOptions } from './shape.ts'

/**
 * Writes results as CSV (RFC 4180): one column for each of the fields that the caller names, else all.
 * Cells of unknown values are empty.
 */
export function createResultCsv(options: AnswerOptions) {
  const { names, cellsOf } = resultColumns(options)
  return {
    header: toRow(['ip', ...names, 'degraded', 'error']),
    row: (ip: string, result: Json) =>
      toRow([
        ip,
        ...cellsOf(result),
        toCell(valueAt(result, 'meta.degraded')),
        toCell(valueAt(result, 'error.message')),
      ]),
  }
}

export type Cell = string | number | boolean | undefined

/** The columns for the requested fields: their names, and the cells of a result. */
export function resultColumns({ fields, include = [] }: AnswerOptions) {
  const columns = fields === undefined ? { ...CSV_FIELDS, ...included(include) } : namedAs(fields)
  const reads = Object.values(columns).map(readerOf)
  return {
    names: Object.keys(columns),
    cellsOf: (result: Json): Cell[] => reads.map((read) => toCell(read(result))),
  }
}

function included(include: NonNullable<AnswerOptions['include']>): Record<string, string> {
  const columns = LIST_INCLUDES.filter((name) => include.includes(name)).map(
    (name) => INCLUDED_CSV_FIELDS[name],
  )
  return Object.assign({}, ...columns)
}

function namedAs(fields: readonly string[]): Record<string, string> {
  return Object.fromEntries(fields.map((field) => [field, field]))
}

/** Objects and lists are JSON. */
function toCell(value: unknown): Cell {
  if (typeof value === 'object') return JSON.stringify(value)
  // safe: parsed JSON has no other values
  return value as Cell
}

function toRow(cells: readonly Cell[]): string {
  return `${csvFormatRow(cells.map(csvCell))}\r\n`
}
