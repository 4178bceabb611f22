import { dsvFormat } from 'd3-dsv'

/** A row of a file, with the text in its address column. */
export interface AddressRow {
  /** Counted from 1, as in spreadsheets. */
  readonly row: number
  readonly text: string
}

export interface AddressColumn {
  /** null if the column has no header. */
  readonly header: string | null
  readonly rows: readonly AddressRow[]
}

/** The number of rows that decide which column holds the addresses. */
const SAMPLE_ROWS = 100
/** Long enough for SAMPLE_ROWS rows of any real file. */
const HEAD_CHARACTERS = 65_536
const IP_HEADER = /^(client|remote|source|src)?[ _-]?ip(v?[46])?([ _-]?addr(ess)?)?$/i

/**
 * Reads the addresses of a text: one per line, or a column of a CSV (RFC 4180) with commas, semicolons
 * or tabs. Chooses the column by its header, else the first column with an address. Leaves out the
 * header and rows with an empty cell.
 */
export function readRows(text: string): AddressColumn {
  const format = dsvFormat(delimiterOf(text))
  const head = format.parseRows(text.slice(0, HEAD_CHARACTERS)).slice(0, SAMPLE_ROWS)
  const column = columnOf(head)
  const first = head[0]?.[column]?.trim() ?? ''
  const hasHeader = IP_HEADER.test(first) || !/\d|:/.test(first)
  const rows = format.parseRows(text, (cells, at): AddressRow | null => {
    const cell = cells[column]?.trim() ?? ''
    return cell === '' || (at === 0 && hasHeader) ? null : { row: at + 1, text: cell }
  })
  return { header: hasHeader && first !== '' ? first : null, rows }
}

function delimiterOf(text: string): string {
  const line = /.+/.exec(text)?.[0] ?? ''
  return [';', '\t'].find((delimiter) => line.includes(delimiter)) ?? ','
}

function columnOf(rows: readonly (readonly string[])[]): number {
  const named = rows[0]?.findIndex((cell) => IP_HEADER.test(cell.trim())) ?? -1
  if (named >= 0) return named
  const width = Math.max(0, ...rows.map((cells) => cells.length))
  const columns = Array.from({ length: width }, (_, column) => column)
  const found = columns.find((column) =>
    rows.some((cells) => mayBeAddress(cells[column]?.trim() ?? '')),
  )
  return found ?? 0
}

const DOTTED = /^\d{1,3}(\.\d{1,3}){3}$/
const LONGEST_ADDRESS = 45

/** Whether the API might accept the text as an address. Other texts never leave the browser. */
export function mayBeAddress(text: string): boolean {
  if (DOTTED.test(text)) return true
  if (text.length > LONGEST_ADDRESS || !/^[\da-f:.]+$/i.test(text)) return false
  return text.includes('::') || text.split(':').length > 6
}
