import { dsvFormat } from 'd3-dsv'

/** A row of a file with what stands where its address should be. */
export interface AddressRow {
  /** From 1, as spreadsheets count. */
  readonly row: number
  readonly text: string
}

export interface AddressColumn {
  /** null: it has no header. */
  readonly header: string | null
  readonly rows: readonly AddressRow[]
}

/** How many rows decide in which column the addresses are. */
const LOOKED_AT = 100
/** Enough for that many rows of any file that is one. */
const HEAD_CHARACTERS = 65_536
const IP_HEADER = /^(client|remote|source|src)?[ _-]?ip(v?[46])?([ _-]?addr(ess)?)?$/i

/**
 * The addresses of a text: one on each line, or a column of a CSV (RFC 4180) that has commas,
 * semicolons or tabs. It is the column whose header says so, else the first that has an address.
 * Rows without a text there are left out, and so is the header.
 */
export function readRows(text: string): AddressColumn {
  const format = dsvFormat(delimiterOf(text))
  const head = format.parseRows(text.slice(0, HEAD_CHARACTERS)).slice(0, LOOKED_AT)
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

/** Whether the API may take it for an address. What it would not is no business of a server. */
export function mayBeAddress(text: string): boolean {
  if (DOTTED.test(text)) return true
  if (text.length > LONGEST_ADDRESS || !/^[\da-f:.]+$/i.test(text)) return false
  return text.includes('::') || text.split(':').length > 6
}
