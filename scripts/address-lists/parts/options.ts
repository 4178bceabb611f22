import * as v from 'valibot'
import { listOf } from '../../../lib/contract/common.ts'
import { LANGUAGES, toLanguage } from '../../../lib/contract/geo/geolocation.ts'
import { LIST_INCLUDES } from '../../../lib/contract/geo/includes.ts'
import { parseEntry } from '../../../lib/geo/answer/bulk.ts'
import { usageText } from '../../../lib/parts/clone-or-package.ts'
import { parseBlock } from '../../../lib/parts/net/block.ts'
import { checkOptions, FLAG, readArguments, TEXT } from '../../parts/options.ts'
import { UsageError } from '../../parts/run.ts'
import { SERVER_OPTIONS, SERVER_USAGE, type Server, toServer } from '../../parts/server-options.ts'
import type { OfBlocks } from './answer-entries.ts'
import { FORM_OPTIONS, FORM_USAGE, type FormOptions, toFormOptions } from './form-options.ts'
import { inputsOf } from './input.ts'
import type { ListAnswerOptions } from './source.ts'

const USAGE = `Usage: ${usageText('locate', '[options] [FILE | ADDRESS…] > results.jsonl')}
Looks up IPv4 and IPv6 addresses: those of the command line, or one per line of the file or stdin.
Writes one JSON object per line, in order. Networks (192.0.2.0/24) and ranges (192.0.2.0 - 192.0.2.9) get
what all their addresses have in common.
  --csv            write CSV with a header row instead
  --expand         write each part of a network or range that has an answer of its own
  --include NAMES  add what answers lack by default: ${LIST_INCLUDES.join(', ')}
  --lang LANGUAGE  names of places in ${LANGUAGES.join(', ')}
  --help           show this

With these, the input may be CSV, TSV, JSON lines or lines of a log; it is recognised by its content:
  --keep           write each row as it is, with the result or an error after it: as JSON lines if the
                   input is JSON lines, else as CSV; --csv and --json override this
  --summary        count the rows by country, region, city, network and precision: without --keep to
                   stdout, with --json as JSON; with --keep to stderr
  --map FILE.html  write a page with a map and the summary that needs no other file

${FORM_USAGE}
${SERVER_USAGE}`

/** What to do with a list. */
export interface ListOptions extends FormOptions {
  /** The form of the rows to write; undefined: write none. */
  readonly keep: 'csv' | 'json' | 'as-read' | undefined
  readonly summary: boolean
  readonly json: boolean
  /** The file for the map. */
  readonly map: string | undefined
}

export interface Task {
  /** The file, or STDIN. */
  readonly input: string
  /** The addresses to look up instead of the input; undefined: the input. */
  readonly addresses: readonly string[] | undefined
  readonly server: Server | undefined
  readonly answerOptions: ListAnswerOptions
  readonly csv: boolean
  readonly ofBlocks: OfBlocks
  /** undefined: the input has one address per line. */
  readonly list: ListOptions | undefined
}

const OPTIONS = {
  csv: FLAG,
  expand: FLAG,
  json: FLAG,
  keep: FLAG,
  summary: FLAG,
  map: TEXT,
  include: TEXT,
  lang: TEXT,
  ...FORM_OPTIONS,
  ...SERVER_OPTIONS,
} as const

/** Reads the command line. Throws an error that contains the usage. */
export function readTask(): Task {
  const { values, positionals } = readArguments({ options: OPTIONS, allowPositionals: true }, USAGE)
  const isList = values.keep === true || values.summary === true || values.map !== undefined
  refuseUseless(values, isList)
  const addresses = isList ? undefined : toAddresses(positionals)
  const [input = '', another] = inputsOf(addresses === undefined ? positionals : [])
  if (another !== undefined) refuse('Name one file')
  return {
    input,
    addresses,
    server: toServer(values, USAGE),
    answerOptions: toAnswerOptions(values),
    csv: values.csv === true,
    ofBlocks: values.expand === true ? 'parts' : 'summary',
    list: isList ? toListOptions(values) : undefined,
  }
}

/** Returns undefined if there are none, or one is not an address: a file can be named ./8.8.8.8. */
function toAddresses(words: readonly string[]): Task['addresses'] {
  const entries = words.flatMap((word) => word.split(','))
  const areEntries = entries.every((text) => parseEntry(text) ?? parseBlock(text))
  return entries.length > 0 && areEntries ? entries : undefined
}

type Values = ReturnType<typeof readArguments<{ readonly options: typeof OPTIONS }>>['values']

/** Refuses options that would have no effect. */
function refuseUseless(values: Values, isList: boolean): void {
  if (values.csv === true && values.json === true) refuse('Choose --csv or --json')
  if (values.expand === true && isList) refuse('--expand is for lists of one entry per line')
  if (values.csv === true && isList && values.keep !== true) refuse('--csv needs --keep here')
  const other = LIST_OPTIONS.find((name) => values[name] !== undefined)
  if (!isList && other !== undefined) refuse(`--${other} needs --keep, --summary or --map`)
}

const LIST_OPTIONS = ['as', 'column', 'anywhere', 'last', 'json'] as const

const AnswerOptionsSchema = v.object({
  include: v.optional(listOf(LIST_INCLUDES, `must be of ${LIST_INCLUDES}, separated by commas`)),
  lang: v.optional(
    v.pipe(
      v.unknown(),
      v.transform(toLanguage),
      v.picklist(LANGUAGES, `must be one of ${LANGUAGES.join(', ')}`),
    ),
  ),
})

function toAnswerOptions(values: Values): ListAnswerOptions {
  const given = { include: values.include, lang: values.lang }
  const { include, lang } = checkOptions(AnswerOptionsSchema, given, USAGE)
  // safe: the schema allows only these names
  return { include: include?.split(',') as ListAnswerOptions['include'], lang }
}

function toListOptions(values: Values): ListOptions {
  const { keep, summary = false, json = false, map } = values
  return {
    keep: keep === true ? rowForm(values) : undefined,
    summary,
    json,
    map,
    ...toFormOptions(values, USAGE),
  }
}

function rowForm({ csv, json }: Values): ListOptions['keep'] {
  if (csv === true) return 'csv'
  return json === true ? 'json' : 'as-read'
}

function refuse(message: string): never {
  throw new UsageError(message, USAGE)
}
