import { csvFormatRows } from 'd3-dsv'
import { BYTE_ORDER_MARK, csvCell } from '../../contract/geo/csv-cell.ts'

/** A row by column. Empty cells are undefined. */
export type CsvRow = Readonly<Record<string, string | number | boolean | undefined>>

/**
 * CSV with a line of names, as RFC 4180 has it, for spreadsheets. Rejects if the first page of rows cannot be read, and
 * asks for each other one once the one before has been read. `onError` is called if the file breaks off.
 */
export async function openCsvFile(
  columns: readonly string[],
  pages: AsyncIterable<readonly CsvRow[]>,
  onError: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder()
  const chunks = toLines(columns, pages)
  const first = await chunks.next()
  const names = `${BYTE_ORDER_MARK}${columns.join(',')}\r\n`
  return new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode(`${names}${first.value ?? ''}`)),
    pull: async (controller) => {
      try {
        const { done, value } = await chunks.next()
        if (done === true) controller.close()
        else controller.enqueue(encoder.encode(value))
      } catch (error) {
        onError(error)
        // The server then ends the connection without the end of the answer.
        controller.error(error)
      }
    },
    cancel: async () => {
      await chunks.return(undefined)
    },
  })
}

async function* toLines(
  columns: readonly string[],
  pages: AsyncIterable<readonly CsvRow[]>,
): AsyncGenerator<string, undefined> {
  for await (const rows of pages) {
    const lines = rows.map((row) => columns.map((name) => csvCell(row[name])))
    // csvFormatRows puts no line break at the end, and \n between lines.
    if (lines.length > 0) yield lines.map((line) => `${csvFormatRows([line])}\r\n`).join('')
  }
}
