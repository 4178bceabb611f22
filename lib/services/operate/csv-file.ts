import { csvFormatRows } from 'd3-dsv'
import { csvCell } from '../../contract/geo/csv-cell.ts'

/** A row by column. Empty cells are undefined. */
export type CsvRow = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * CSV with a line of names, as RFC 4180 has it. Asks for each page of rows once the one before has been read.
 * `onError` is called if the file breaks off.
 */
export function csvFile(
  columns: readonly string[],
  pages: AsyncIterable<readonly CsvRow[]>,
  onError: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const chunks = toLines(columns, pages)
  return new ReadableStream({
    pull: async (controller) => {
      try {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        onError(error)
        controller.error(error)
      }
    },
    cancel: async () => {
      await chunks.return(undefined)
    },
  })
}

async function* toLines(columns: readonly string[], pages: AsyncIterable<readonly CsvRow[]>) {
  yield `${columns.join(',')}\r\n`
  for await (const rows of pages) {
    const lines = rows.map((row) => columns.map((name) => csvCell(row[name])))
    // csvFormatRows puts no line break at the end, and \n between lines.
    if (lines.length > 0) yield lines.map((line) => `${csvFormatRows([line])}\r\n`).join('')
  }
}
