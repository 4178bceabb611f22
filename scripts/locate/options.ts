import { type Corrections, KINDS, type Kind } from '../../lib/list/form.ts'
import { usageText } from '../../lib/own-code.ts'
import { FLAG, readArguments, TEXT } from '../parts/options.ts'

const USAGE = `Usage: ${usageText('locate', '[options] < addresses.txt > results.jsonl')}
Looks up one IPv4 or IPv6 address per line and writes one JSON object per line, in order.
  --csv   write CSV with a header row instead
  --help  show this

With these, the input may be CSV, TSV, JSON lines or lines of a log; it is recognised by its content:
  --keep           write each row of the input as it is, with the result after it; a row without an
                   address gets an error. CSV; of JSON lines, JSON lines. --csv or --json: that one
  --summary        count the rows by country, city, network and precision: without --keep to stdout,
                   with --json as JSON; with --keep to stderr
  --map FILE.html  write a page with a map and the summary that needs no other file

If it is not recognised as you mean it:
  --as KIND        ${Object.keys(KINDS).join(', ')}
  --column NAME    the column or field with the addresses, or its number
  --anywhere       take addresses anywhere in the line
  --last           look up the last of several addresses in a row, not the first
`

/** What to do with a list. */
export interface ListOptions {
  /** The form of the rows to write; undefined: write none. */
  readonly keep: 'csv' | 'json' | 'as-read' | undefined
  readonly summary: boolean
  readonly json: boolean
  /** The file for the map. */
  readonly map: string | undefined
  readonly corrections: Corrections
  readonly column: string | undefined
}

export type Task =
  | { readonly kind: 'lines'; readonly csv: boolean }
  | { readonly kind: 'list'; readonly options: ListOptions }

const OPTIONS = {
  csv: FLAG,
  json: FLAG,
  keep: FLAG,
  summary: FLAG,
  map: TEXT,
  as: TEXT,
  column: TEXT,
  anywhere: FLAG,
  last: FLAG,
} as const

/** Reads the command line. Throws an error that contains the usage. */
export function readTask(): Task {
  const { values } = readArguments({ options: OPTIONS }, USAGE)
  const isList = values.keep === true || values.summary === true || values.map !== undefined
  refuseUseless(values, isList)
  if (!isList) return { kind: 'lines', csv: values.csv === true }
  return { kind: 'list', options: toListOptions(values) }
}

type Values = ReturnType<typeof readArguments<{ readonly options: typeof OPTIONS }>>['values']

/** Refuses options that would have no effect. */
function refuseUseless(values: Values, isList: boolean): void {
  if (values.csv === true && values.json === true) refuse('Choose --csv or --json')
  if (values.csv === true && isList && values.keep !== true) refuse('--csv needs --keep here')
  const other = LIST_OPTIONS.find((name) => values[name] !== undefined)
  if (!isList && other !== undefined) refuse(`--${other} needs --keep, --summary or --map`)
}

const LIST_OPTIONS = ['as', 'column', 'anywhere', 'last', 'json'] as const

function toListOptions(values: Values): ListOptions {
  const { keep, summary = false, json = false, map, column } = values
  return {
    keep: keep === true ? rowForm(values) : undefined,
    summary,
    json,
    map,
    column,
    corrections: {
      kind: values.as === undefined ? undefined : toKind(values.as),
      column: values.anywhere === true ? null : undefined,
      take: values.last === true ? 'last' : 'first',
    },
  }
}

function rowForm({ csv, json }: Values): ListOptions['keep'] {
  if (csv === true) return 'csv'
  return json === true ? 'json' : 'as-read'
}

function toKind(text: string): Kind {
  // safe: the names of a literal object
  const kind = (Object.keys(KINDS) as Kind[]).find((name) => name === text)
  return kind ?? refuse(`--as "${text}" is not a kind of list`)
}

function refuse(message: string): never {
  throw new Error(`${message}\n\n${USAGE}`)
}
