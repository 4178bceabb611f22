import { NO_ADDRESS } from '../../../lib/address-lists/find-addresses.ts'
import { KINDS, type ListForm } from '../../../lib/address-lists/form.ts'
import type { Row } from '../../../lib/address-lists/read-list.ts'
import {
  csvDelimiter,
  jsonLines,
  type Lines,
  tableLines,
} from '../../../lib/address-lists/write-list.ts'
import {
  addedCells,
  addedNames,
  type BatchColumn,
  type RowAnswer,
  selectFields,
} from '../../../pages/dashboard/look-up/batch-columns.ts'

export const OUTPUTS = {
  csv: { type: 'text/csv', extension: 'csv' },
  tsv: { type: 'text/tab-separated-values', extension: 'tsv' },
  json: { type: 'application/jsonl', extension: 'jsonl' },
} as const
export type Output = keyof typeof OUTPUTS

export const ROWS_PER_PART = 1_000

export interface Results {
  readonly form: ListForm
  readonly columns: readonly BatchColumn[]
  /** The answer to an address of the list. */
  readonly answerTo: (address: string) => RowAnswer
}

/**
 * Writes the rows of a list with their results: in CSV and TSV first the header, then parts of
 * `ROWS_PER_PART` rows each.
 */
export async function* writeResults(
  list: AsyncIterable<readonly Row[]>,
  output: Output,
  results: Results,
): AsyncGenerator<string> {
  const { header, line } = linesOf(output, results)
  const parts = createParts(header)
  for await (const rows of list) {
    for (const row of rows) {
      if (parts.isFull(row)) yield parts.take()
      parts.add(line(row), row)
    }
  }
  yield parts.take()
}

/** Collects lines until the next row begins another part. */
function createParts(header: string) {
  let lines = [header]
  let rows = 0
  return {
    isFull: ({ kind }: Row) => kind === 'row' && rows % ROWS_PER_PART === 0,
    add: (line: string, { kind }: Row) => {
      lines.push(line)
      if (kind === 'row') rows += 1
    },
    take: () => {
      const text = lines.join('')
      lines = []
      return text
    },
  }
}

/** The delimiter of the file that is written. */
export function delimiterOf(output: 'csv' | 'tsv', form: ListForm): string {
  return output === 'tsv' ? KINDS.tab : csvDelimiter(form)
}

function linesOf(output: Output, { form, columns, answerTo }: Results): Lines {
  const none: RowAnswer = { error: NO_ADDRESS }
  const answerToRow = ({ address }: Row) => (address === undefined ? none : answerTo(address))
  if (output === 'json') {
    return jsonLines(form, (answer) => JSON.stringify(selectFields(columns, answer)), answerToRow)
  }
  const added = {
    names: addedNames(columns),
    cellsOf: (answer: RowAnswer) => addedCells(columns, answer),
  }
  return tableLines(form, delimiterOf(output, form), added, answerToRow)
}
