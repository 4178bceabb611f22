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
  const answerTo = (address: string | undefined) => answers.get(address) ?? WITHOUT_ADDRESS
  const { header, line } =
    output === 'json'
      ? jsonLines(form, ({ json }: Answer) => json, answerTo)
      : table(form, answerOptions, answerTo)
  return {
    header,
    write: async (rows: readonly Row[]): Promise<string> => {
      answers = await lookUp(source, rows)
      return rows.map(line).join('')
    },
  }
}

function table(
  form: ListForm,
  answerOptions: ListAnswerOptions,
  answerTo: (address: string | undefined) => Answer,
): Lines {
  const { names, cellsOf } = answerColumns(answerOptions)
  const columns = { names, cellsOf: ({ json }: Answer) => cellsOf(JSON.parse(json)) }
  return tableLines(form, ownDelimiter(form), columns, answerTo)
}

/** Asks for each address once. */
async function lookUp(source: Source, rows: readonly Row[]): Promise<ReadonlyMap<string, Answer>> {
  const addresses = [...new Set(rows.flatMap(({ address }) => address ?? []))]
  const answers = [...(await source.answersTo(addresses))]
  return new Map(addresses.map((address, at) => [address, { json: answers[at] ?? '' }]))
}
