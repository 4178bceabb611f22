import { endOfQuoted } from './records.ts'

/** The cells of a record of CSV, by the same rules as `Records`. */
export function toCells(record: string, delimiter: string): string[] {
  if (!record.includes('"')) return record.split(delimiter)
  const cells: string[] = []
  for (let start = 0; start <= record.length; ) {
    const { cell, end } = cellAt(record, start, delimiter)
    cells.push(cell)
    start = end + 1
  }
  return cells
}

/** The cell that begins at `start`, and the position of the delimiter after it. */
function cellAt(record: string, start: number, delimiter: string) {
  const quoteEnd = record.charAt(start) === '"' ? endOfQuoted(record, start + 1) : Infinity
  const isQuoted = quoteEnd <= record.length
  const after = isQuoted ? quoteEnd : start
  const next = record.indexOf(delimiter, after)
  const end = next < 0 ? record.length : next
  const quoted = isQuoted ? record.slice(start + 1, after - 1).replaceAll('""', '"') : ''
  return { cell: quoted + record.slice(after, end), end }
}
