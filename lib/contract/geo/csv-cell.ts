/** By it, spreadsheets know UTF-8: without, Excel reads a CSV file in the code page of the machine. */
export const BYTE_ORDER_MARK = '\ufeff'

/** Characters with which a formula begins, the full-width ones included. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/
/** An offset from UTC, a calling code or another number. */
const SIGNED = /^[+-]\d{1,7}(?::\d{2})?$/

/**
 * A cell of CSV. Escapes texts that a spreadsheet would run as a formula (OWASP, CSV Injection), because
 * strangers may choose the names of places and networks. Numbers and offsets from UTC are safe, with
 * any sign.
 */
export function csvCell(value: string | number | boolean | undefined): string {
  if (typeof value !== 'string') return String(value ?? '')
  return FORMULA.test(value) && !SIGNED.test(value) ? `'${value}` : value
}
