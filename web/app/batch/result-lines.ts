import { csvFormatRow } from 'd3-dsv'
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
  return `${csvFormatRow([row, text, ...values].map(toCell))}\n`
}

/**
 * Escapes texts that a spreadsheet would run as a formula (OWASP, CSV Injection), because others
 * choose the names of places and networks. Numbers are safe, even negative ones.
 */
function toCell(value: string | number | undefined): string {
  if (typeof value !== 'string') return String(value ?? '')
  return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
}

/** The result of the API with the row number, as one line of a JSON Lines file. */
export function toJsonLine({ row, result }: AnsweredRow): string {
  return `${JSON.stringify({ row, ...result })}\n`
}
