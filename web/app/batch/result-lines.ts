import { csvFormatRow } from 'd3-dsv'
import { csvCell } from '../../../lib/contract/geo/csv-cell.ts'
import { type BatchColumn, cellAt } from '../../../pages/dashboard/look-up/batch-columns.ts'
import type { AddressRow } from './read-rows.ts'

/** A row with the result of the API. */
export interface AnsweredRow extends AddressRow {
  readonly result: object
}

/** The header for the lines of `toCsvLine`. */
export function toCsvHeader(columns: readonly BatchColumn[]): string {
  return `${csvFormatRow(['row', 'ip', ...columns.map(({ name }) => name), 'error'])}\n`
}

/** One row of CSV (RFC 4180). Unknown values are empty cells. */
export function toCsvLine(
  { row, text, result }: AnsweredRow,
  columns: readonly BatchColumn[],
): string {
  const values = [...columns.map(({ field }) => field), 'error.message'].map((field) =>
    cellAt(result, field),
  )
  return `${csvFormatRow([row, text, ...values].map(csvCell))}\n`
}

/** The result of the API with the row number, as one line of a JSON Lines file. */
export function toJsonLine({ row, result }: AnsweredRow): string {
  return `${JSON.stringify({ row, ...result })}\n`
}
