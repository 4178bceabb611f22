import { toCells } from '../../../lib/address-lists/cells.ts'
import { Records } from '../../../lib/address-lists/records.ts'
import { ROWS_PER_PART } from './write-results.ts'

export const ROWS_PER_PAGE = 50

export type ResultTable = Awaited<ReturnType<typeof openTable>>

/**
 * Keeps the texts of `writeResults` as blobs, which browsers can keep out of memory, and reads pages of
 * rows from them.
 */
export async function openTable(texts: AsyncIterable<string>, delimiter: string) {
  const parts = await toBlobs(texts)
  const read = async (part: number) => toRows((await parts[part]?.text()) ?? '', delimiter)
  return {
    parts,
    /** The rows of a page, counted from 0. */
    readPage: async (page: number): Promise<string[][]> => {
      const row = page * ROWS_PER_PAGE
      const rows = await read(1 + Math.floor(row / ROWS_PER_PART))
      const start = row % ROWS_PER_PART
      return rows.slice(start, start + ROWS_PER_PAGE)
    },
  }
}

export async function toBlobs(texts: AsyncIterable<string>): Promise<Blob[]> {
  const blobs: Blob[] = []
  for await (const text of texts) blobs.push(new Blob([text]))
  return blobs
}

/** Lines of the list that are empty have no delimiter. */
function toRows(text: string, delimiter: string): string[][] {
  const records = new Records(delimiter)
  return [...records.push(text), ...records.end()]
    .filter((record) => record.includes(delimiter))
    .map((record) => toCells(record, delimiter))
}
