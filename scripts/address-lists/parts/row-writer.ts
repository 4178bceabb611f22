import { NO_ADDRESS } from '../../../lib/address-lists/find-addresses.ts'
import type { ListForm } from '../../../lib/address-lists/form.ts'
import type { Row } from '../../../lib/address-lists/read-list.ts'
import {
  jsonLines,
  type Lines,
  ownDelimiter,
  tableLines,
} from '../../../lib/address-lists/write-list.ts'
import { answerColumns } from '../../../lib/geo/answer/bulk-csv.ts'
import { createAnswerEntries, entryOf } from './answer-entries.ts'
import type { ListOptions } from './options.ts'
import type { ListAnswerOptions, Source } from './source.ts'

type Output = 'csv' | 'json'

/** `as-read`: JSON lines stay JSON lines; everything else becomes CSV. */
export function outputFor({ kind }: ListForm, keep: NonNullable<ListOptions['keep']>): Output {
  if (keep !== 'as-read') return keep
  return kind === 'json' ? 'json' : 'csv'
}

interface RowFormat {
  readonly form: ListForm
  readonly output: Output
  readonly answerOptions: ListAnswerOptions
}

/** The answer to an address, as a `Source` writes it. */
interface Answer {
  readonly json: string
}

const WITHOUT_ADDRESS: Answer = { json: JSON.stringify({ error: { message: NO_ADDRESS } }) }

/** Looks up the addresses of rows, and writes the rows with their results. */
export function createRowWriter(source: Source, { form, output, answerOptions }: RowFormat) {
  let answers: ReadonlyMap<string | undefined, Answer> = new Map()
  const answersTo = createAnswerEntries(source, answerOptions)
  const answerTo = (row: Row) => answers.get(entryOf(row)) ?? WITHOUT_ADDRESS
  const { header, line } =
    output === 'json'
      ? jsonLines(form, ({ json }: Answer) => json, answerTo)
      : table(form, answerOptions, answerTo)
  return {
    header,
    write: async (rows: readonly Row[]): Promise<string> => {
      answers = await lookUp(answersTo, rows)
      return rows.map(line).join('')
    },
  }
}

function table(
  form: ListForm,
  answerOptions: ListAnswerOptions,
  answerTo: (row: Row) => Answer,
): Lines {
  const { names, cellsOf } = answerColumns(answerOptions)
  const columns = { names, cellsOf: ({ json }: Answer) => cellsOf(JSON.parse(json)) }
  return tableLines(form, ownDelimiter(form), columns, answerTo)
}

/** Asks for each entry once. */
async function lookUp(
  answersTo: Source['answersTo'],
  rows: readonly Row[],
): Promise<ReadonlyMap<string, Answer>> {
  const entries = [...new Set(rows.flatMap((row) => entryOf(row) ?? []))]
  const answers = [...(await answersTo(entries))]
  return new Map(entries.map((entry, at) => [entry, { json: answers[at] ?? '' }]))
}
