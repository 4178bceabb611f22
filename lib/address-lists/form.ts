import { BYTE_ORDER_MARK } from '../contract/geo/csv-cell.ts'
import { toCells } from './cells.ts'
import { type Directives, delimiterIn, findDirectives } from './directives.ts'
import { findAddresses } from './find-addresses.ts'
import { namesIn, textOfField, toObject } from './json-object.ts'
import { Records } from './records.ts'

/** The kinds of lists, each with the delimiter of its cells if it has cells. */
export const KINDS = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
  pipe: '|',
  space: ' ',
  lines: undefined,
  json: undefined,
} as const
export type Kind = keyof typeof KINDS

/** How a list of addresses is written. */
export interface ListForm {
  readonly kind: Kind
  /** Whether the first record names the columns. */
  readonly hasHeader: boolean
  /** The names of the columns or, in JSON lines, of the fields; those without a name are numbered. */
  readonly columns: readonly string[]
  /** The place of the addresses in `columns`; null: anywhere in the line. */
  readonly column: number | null
  /** Which address counts if there are several in a cell or line. */
  readonly take: 'first' | 'last'
  /** The line break after the first line. */
  readonly lineBreak: string
  /** Whether lines with `#` at their start are no rows; `#Fields:` among them names the columns. */
  readonly hasDirectives?: true
}

/** How the user describes the list. It replaces what was recognised. */
export interface Corrections {
  readonly kind?: Kind | undefined
  readonly hasHeader?: boolean | undefined
  readonly column?: number | null | undefined
  readonly take?: ListForm['take'] | undefined
  /** Names of columns that may have the addresses, the best first. */
  readonly names?: readonly string[] | undefined
  /** The names of the columns if the list does not say them: a part of a log may have lost its first lines. */
  readonly fields?: readonly string[] | undefined
}

/** How much of a list to read for recognising it: enough for SAMPLE_RECORDS of any usual list. */
export const HEAD_CHARACTERS = 65_536
const SAMPLE_RECORDS = 100
const IP_NAME =
  /^((c|client|remote|source|src|visitor|user)?[ _.-]?ip(v?[46])?([ _-]?addr(ess)?)?|(client|remote|source|src)[ _.-]?addr(ess)?|id\.orig_h)$/i
/** Behind a proxy, what is called remote is often the proxy. */
const CLIENT_NAME = /(^|\.)(c|client|visitor|user)[ _.-]?ip([ _-]?addr(ess)?)?$/i

/** Recognises the form of a list by its first characters, apart from what is corrected. */
export function recognise(text: string, corrections: Corrections = {}): ListForm {
  const head = text.slice(0, HEAD_CHARACTERS)
  const isWhole = text.length < HEAD_CHARACTERS
  const directives = directivesOf(head, isWhole, corrections.kind)
  const kind = corrections.kind ?? directives?.kind ?? kindOf(head, isWhole)
  const fields = directives?.fields ?? corrections.fields
  const table = readTable(head, kind, { isWhole, fields })
  const column = columnOf(table, corrections)
  const hasDirectives = fields !== undefined
  const mayHaveHeader = KINDS[kind] !== undefined && !hasDirectives
  const hasHeader = mayHaveHeader && (corrections.hasHeader ?? seemsHeader(table, column))
  return {
    kind,
    hasHeader,
    columns: kind === 'json' ? table.names : numbered(table, hasHeader || hasDirectives),
    column,
    take: corrections.take ?? 'first',
    lineBreak: /\r\n|\n|\r/.exec(head)?.[0] ?? '\n',
    ...(hasDirectives && { hasDirectives }),
  }
}

/** The kind that the list names itself; the caller's choice comes first. */
function directivesOf(head: string, isWhole: boolean, asked: Kind | undefined) {
  const found = findDirectives(firstRecords(head, undefined, isWhole))
  // safe: the names of a literal object
  const kinds = Object.keys(KINDS) as Kind[]
  const kind = kinds.find((one) => KINDS[one] === found?.delimiter)
  if (found === undefined || kind === undefined) return undefined
  return asked === undefined || asked === kind ? { kind, fields: found.fields } : undefined
}

/** The first records. Lines of a log have no cells, so their width is 0. */
interface Table {
  readonly rows: readonly (readonly string[])[]
  readonly width: number
  /** The fields of JSON lines, or the cells of the first record. */
  readonly names: readonly string[]
}

function kindOf(head: string, isWhole: boolean): Kind {
  const [first] = firstRecords(head, undefined, isWhole)
  if (first !== undefined && toObject(first) !== null) return 'json'
  const delimited = (['comma', 'semicolon', 'tab'] as const)
    .map((kind) => ({ kind, table: readTable(head, kind, { isWhole }) }))
    .filter(({ kind, table }) => (kind === 'comma' || table.width > 1) && isRegular(table))
    .sort((one, other) => other.table.width - one.table.width)
  return delimited[0]?.kind ?? 'lines'
}

/** Whether few records are longer than most, and addresses have cells of their own. */
function isRegular(table: Table): boolean {
  const { rows, width, names } = table
  const share = (isSo: (length: number) => boolean) =>
    rows.filter((cells) => isSo(cells.length)).length / rows.length
  if (rows.length === 0 || share((length) => length > width) > 0.1) return false
  if (share((length) => length === width) < 0.5) return false
  const column = addressColumn(table)
  const cells = rows.map((row) => row[column ?? 0] ?? '')
  const filled = cells.filter((cell) => findAddresses(cell).length > 0)
  const own = filled.filter((cell) => !/\s/.test(cell.trim().replaceAll(/,\s+/g, ',')))
  if (filled.length > 0) return own.length >= filled.length / 2
  return width > 1 || IP_NAME.test(names[0]?.trim() ?? '')
}

interface Reading {
  readonly isWhole: boolean
  /** The names of the columns, if directives say them. */
  readonly fields?: Directives['fields']
}

function readTable(head: string, kind: Kind, { isWhole, fields }: Reading): Table {
  const delimiter = KINDS[kind]
  const all = firstRecords(head, delimiter, isWhole).slice(0, SAMPLE_RECORDS)
  const records = all.filter((record) => !isDirective(record, fields !== undefined))
  if (kind === 'json') return readObjects(records)
  if (delimiter === undefined)
    return { rows: records.map((record) => [record]), width: 0, names: [] }
  const rows = records.map((record) => toCells(record, delimiter))
  const names = fields ?? rows[0] ?? []
  return { rows, width: commonest(rows.map((cells) => cells.length)), names }
}

function readObjects(records: readonly string[]): Table {
  const objects = records.map((record) => toObject(record) ?? {})
  const own = new Set(objects.flatMap((object) => Object.keys(object)))
  const nested = objects.flatMap((object) => namesIn(object))
  const names = [...new Set([...own, ...nested])]
  const rows = objects.map((object) => names.map((name) => textOfField(object, name)))
  return { rows, width: own.size, names }
}

/** Whether it is a line about the list: `sep=;`, or one that begins with `#` in a list with such lines. */
export function isDirective(record: string, hasDirectives = false): boolean {
  return hasDirectives ? record.startsWith('#') : delimiterIn(record) !== undefined
}

/** The first records that are not empty. The last one may be cut off, so it is left out. */
function firstRecords(head: string, delimiter: string | undefined, isWhole: boolean): string[] {
  const records = new Records(delimiter)
  const ended = records.push(head.replace(BYTE_ORDER_MARK, ''))
  const all = isWhole || ended.length === 0 ? [...ended, ...records.end()] : ended
  return all.filter((record) => record !== '')
}

function commonest(numbers: readonly number[]): number {
  const counts = new Map<number, number>()
  for (const number of numbers) counts.set(number, (counts.get(number) ?? 0) + 1)
  const [most] = [...counts].sort(([, one], [, other]) => other - one)
  return most?.[0] ?? 0
}

/** The column with a name such as `ip`, else the one with the most addresses; null if there are none. */
function addressColumn({ rows, width, names }: Table): number | null {
  if (width === 0) return null
  const isCalled = (pattern: RegExp) => names.findIndex((name) => pattern.test(name.trim()))
  const [client, named] = [isCalled(CLIENT_NAME), isCalled(IP_NAME)]
  if (client >= 0 || named >= 0) return client >= 0 ? client : named
  const counts = Array.from(
    { length: width },
    (_, column) => rows.filter((cells) => findAddresses(cells[column] ?? '').length > 0).length,
  )
  const most = Math.max(...counts)
  return most === 0 ? null : counts.indexOf(most)
}

function columnOf(table: Table, { column, names = [] }: Corrections): number | null {
  const named = names.map((name) => table.names.indexOf(name)).find((at) => at >= 0)
  const asked = column === undefined ? named : column
  return asked === undefined || !isIn(asked, table) ? addressColumn(table) : asked
}

function isIn(column: number | null, { width, names }: Table): boolean {
  return column === null || column < (width === 0 ? 0 : Math.max(width, names.length))
}

/** Whether the first record names columns: it holds no address, and no digit where addresses are. */
function seemsHeader({ rows: [first = []] }: Table, column: number | null): boolean {
  if (first.some((cell) => findAddresses(cell).length > 0)) return false
  const cell = first[column ?? 0]?.trim() ?? ''
  return cell !== '' && (IP_NAME.test(cell) || !/[\d:]/.test(cell))
}

function numbered({ width, names }: Table, hasHeader: boolean): string[] {
  const length = hasHeader ? Math.max(width, names.length) : width
  return Array.from({ length }, (_, at) => {
    const name = hasHeader ? (names[at]?.trim() ?? '') : ''
    return name === '' ? nameOfColumn(at) : name
  })
}

/** The name of a column that has none in the list. */
export function nameOfColumn(at: number): string {
  return `column_${at + 1}`
}
