import { toCells } from './cells.ts'
import { findAddresses } from './find-addresses.ts'
import { toObject } from './json-object.ts'
import { Records } from './records.ts'

/** The kinds of lists, each with the delimiter of its cells if it has cells. */
export const KINDS = {
  comma: ',',
  semicolon: ';',
  tab: '\t',
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
}

/** How the user describes the list. It replaces what was recognised. */
export interface Corrections {
  readonly kind?: Kind | undefined
  readonly hasHeader?: boolean | undefined
  readonly column?: number | null | undefined
  readonly take?: ListForm['take'] | undefined
}

/** How much of a list to read for recognising it: enough for SAMPLE_RECORDS of any usual list. */
export const HEAD_CHARACTERS = 65_536
const SAMPLE_RECORDS = 100
const IP_NAME = /^(client|remote|source|src|visitor|user)?[ _.-]?ip(v?[46])?([ _-]?addr(ess)?)?$/i

export const BYTE_ORDER_MARK = '\ufeff'

/** Recognises the form of a list by its first characters, apart from what is corrected. */
export function recognise(text: string, corrections: Corrections = {}): ListForm {
  const head = text.slice(0, HEAD_CHARACTERS)
  const isWhole = text.length < HEAD_CHARACTERS
  const kind = corrections.kind ?? kindOf(head, isWhole)
  const table = readTable(head, kind, isWhole)
  const named = corrections.column
  const column = named === undefined || !isIn(named, table.width) ? addressColumn(table) : named
  const hasHeader =
    KINDS[kind] !== undefined && (corrections.hasHeader ?? seemsHeader(table, column))
  return {
    kind,
    hasHeader,
    columns: kind === 'json' ? table.names : numbered(table, hasHeader),
    column,
    take: corrections.take ?? 'first',
    lineBreak: /\r\n|\n|\r/.exec(head)?.[0] ?? '\n',
  }
}

/** The first records. Lines of a log have no cells, so their width is 0. */
interface Table {
  readonly rows: readonly (readonly string[])[]
  readonly width: number
  /** The fields of JSON lines, or the cells of the first record. */
  readonly names: readonly string[]
}

function kindOf(head: string, isWhole: boolean): Kind {
  const [first] = sample(head, undefined, isWhole)
  if (first !== undefined && toObject(first) !== null) return 'json'
  const delimited = (['comma', 'semicolon', 'tab'] as const)
    .map((kind) => ({ kind, table: readTable(head, kind, isWhole) }))
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

function readTable(head: string, kind: Kind, isWhole: boolean): Table {
  const delimiter = KINDS[kind]
  const records = sample(head, delimiter, isWhole)
  if (kind === 'json') return readObjects(records)
  if (delimiter === undefined)
    return { rows: records.map((record) => [record]), width: 0, names: [] }
  const rows = records.map((record) => toCells(record, delimiter))
  return { rows, width: commonest(rows.map((cells) => cells.length)), names: rows[0] ?? [] }
}

function readObjects(records: readonly string[]): Table {
  const objects = records.map((record) => toObject(record) ?? {})
  const names = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  const rows = objects.map((object) => names.map((name) => textOf(object[name])))
  return { rows, width: names.length, names }
}

/** A field in which addresses may be. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The first records that are not empty. The last one may be cut off, so it is left out. */
function sample(head: string, delimiter: string | undefined, isWhole: boolean): string[] {
  const records = new Records(delimiter)
  const ended = records.push(head.replace(BYTE_ORDER_MARK, ''))
  const all = isWhole || ended.length === 0 ? [...ended, ...records.end()] : ended
  return all.filter((record) => record !== '').slice(0, SAMPLE_RECORDS)
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
  const named = names.findIndex((name) => IP_NAME.test(name.trim()))
  if (named >= 0) return named
  const counts = Array.from(
    { length: width },
    (_, column) => rows.filter((cells) => findAddresses(cells[column] ?? '').length > 0).length,
  )
  const most = Math.max(...counts)
  return most === 0 ? null : counts.indexOf(most)
}

function isIn(column: number | null, width: number): boolean {
  return column === null || column < width
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
    return name === '' ? `column_${at + 1}` : name
  })
}
