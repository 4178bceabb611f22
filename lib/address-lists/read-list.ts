import { BYTE_ORDER_MARK } from '../contract/geo/csv-cell.ts'
import { toCells } from './cells.ts'
import { fieldsIn } from './directives.ts'
import { findAddresses } from './find-addresses.ts'
import { isDirective, KINDS, type ListForm, nameOfColumn } from './form.ts'
import { textOfField, toObject } from './json-object.ts'
import { Records } from './records.ts'

export interface Row {
  /**
   * `empty`: a line of nothing but spaces, or `sep=;` at the start. It stays in the list, but does not count as a
   * row. `comment`: a line about the list, which does not stay.
   */
  readonly kind: 'header' | 'row' | 'empty' | 'comment'
  /** As in the list, without the line break at its end. */
  readonly record: string
  /** The cells of the record, if the list has cells. */
  readonly cells: readonly string[] | undefined
  /** The address, as it is written in the list; undefined if there is none. */
  readonly address: string | undefined
  /** The cell or line that the address is in. */
  readonly text: string
  /** Whether there are several addresses to take it from. */
  readonly hasSeveral: boolean
}

/** Reads the rows of a list whose text comes in chunks. Each item is the rows that end in a chunk. */
export async function* readList(
  chunks: AsyncIterable<string> | Iterable<string>,
  form: ListForm,
): AsyncGenerator<readonly Row[]> {
  const records = new Records(KINDS[form.kind])
  const toRow = createToRow(form)
  let isFirst = true
  const toRows = (texts: readonly string[]) => texts.map(toRow)
  for await (const chunk of chunks) {
    const text = isFirst && chunk.startsWith(BYTE_ORDER_MARK) ? chunk.slice(1) : chunk
    if (chunk !== '') isFirst = false
    yield toRows(records.push(text))
  }
  yield toRows(records.end())
}

const ONLY_SPACES = /^ *$/

/** Turns the records of a list into rows, in order. */
function createToRow(form: ListForm): (record: string) => Row {
  const { hasDirectives } = form
  let [current, isFirst, awaitsHeader] = [form, true, form.hasHeader]
  const kindOf = (record: string): Row['kind'] => {
    if (hasDirectives === true && isDirective(record, hasDirectives)) return 'comment'
    if (ONLY_SPACES.test(record) || (isFirst && isDirective(record))) return 'empty'
    return awaitsHeader ? 'header' : 'row'
  }
  return (record) => {
    const kind = kindOf(record)
    isFirst = false
    if (kind === 'header') awaitsHeader = false
    if (kind === 'row') return withAddress(record, current)
    // Servers name the columns again when they start, or when others are to be logged.
    const fields = kind === 'comment' ? fieldsIn(record) : undefined
    if (fields !== undefined) current = { ...form, column: columnIn(fields, form) }
    return withoutAddress(kind, record, form)
  }
}

/** Where the column of the addresses is among the new fields; -1: it is not logged any more. */
function columnIn(fields: readonly string[], { columns, column }: ListForm): number | null {
  if (column === null) return null
  const name = columns[column]
  const isWhereItWas = fields[column] === name || name === nameOfColumn(column)
  return isWhereItWas ? column : fields.indexOf(name ?? '')
}

function withoutAddress(kind: Row['kind'], record: string, form: ListForm): Row {
  const cells = kind === 'header' ? cellsOf(record, form) : undefined
  return { kind, record, cells, address: undefined, text: record, hasSeveral: false }
}

function withAddress(record: string, form: ListForm): Row {
  const cells = cellsOf(record, form)
  const text = textWithAddress(record, cells, form)
  const found = findAddresses(text)
  const address = form.take === 'first' ? found[0] : found.at(-1)
  return { kind: 'row', record, cells, address, text, hasSeveral: found.length > 1 }
}

function cellsOf(record: string, { kind }: ListForm): string[] | undefined {
  const delimiter = KINDS[kind]
  return delimiter === undefined ? undefined : toCells(record, delimiter)
}

function textWithAddress(
  record: string,
  cells: readonly string[] | undefined,
  { kind, columns, column }: ListForm,
): string {
  if (column === null) return record
  if (cells !== undefined) return cells[column] ?? ''
  if (kind !== 'json') return record
  const object = toObject(record)
  return object === null ? record : textOfField(object, columns[column] ?? '')
}
