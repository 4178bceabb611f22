import { csvFormatRow } from 'd3-dsv'
import { type BatchColumn, valueAt } from '../../pages/dashboard/batch-columns.ts'
import type { AddressRow } from './read-rows.ts'

/** What the API says of the text of a row. */
export interface AnsweredRow extends AddressRow {
  readonly result: object
}

/** The names of the columns of `toCsvLine`. */
export function toCsvHeader(columns: readonly BatchColumn[]): string {
  return `${csvFormatRow(['row', 'ip', ...columns.map(({ name }) => name), 'error'])}\n`
}

/** One row of CSV (RFC 4180): what is not known is an empty cell. */
export function toCsvLine(
  { row, text, result }: AnsweredRow,
  columns: readonly BatchColumn[],
): string {
  const values = [...columns.map(({ field }) => field), 'error.message'].map((field) =>
    valueAt(result, field),
  )
  return `${csvFormatRow([row, text, ...values].map(toCell))}\n`
}

/**
 * No spreadsheet takes the text for a formula (OWASP, CSV Injection): names of places and networks
 * are written by others. A number is none, with its sign or without.
 */
function toCell(value: string | number | undefined): string {
  if (typeof value !== 'string') return String(value ?? '')
  return /^[=+\-@\t\r]/.test(value) ? `'${value}` : value
}

/** The answer of the API with the number of the row. */
export function toJsonLine({ row, result }: AnsweredRow): string {
  return `${JSON.stringify({ row, ...result })}\n`
}
