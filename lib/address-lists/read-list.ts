import { toCells } from './cells.ts'
import { findAddresses } from './find-addresses.ts'
import { BYTE_ORDER_MARK, KINDS, type ListForm, textOf } from './form.ts'
import { toObject } from './json-object.ts'
import { Records } from './records.ts'

export interface Row {
  /** `empty`: a line of nothing but spaces. It stays in the list, but does not count as a row. */
  readonly kind: 'header' | 'row' | 'empty'
  /** As in the list, without the line break at its end. */
  readonly record: string
  /** The cells of the record, if the list has cells. */
  readonly cells: readonly string[] | undefined
  /** The address, as it is written in the list; undefined if there is none. */
  readonly address: string | undefined
  /** Whether there are several addresses to take it from. */
  readonly hasSeveral: boolean
}

/** Reads the rows of a list whose text comes in chunks. Each item is the rows that end in a chunk. */
export async function* readList(
  chunks: AsyncIterable<string> | Iterable<string>,
  form: ListForm,
): AsyncGenerator<readonly Row[]> {
  const records = new Records(KINDS[form.kind])
  let isFirst = true
  let awaitsHeader = form.hasHeader
  const toRows = (texts: readonly string[]) =>
    texts.map((record) => {
      const kind = kindOf(record, awaitsHeader)
      if (kind === 'header') awaitsHeader = false
      return kind === 'row' ? toRow(record, form) : withoutAddress(kind, record, form)
    })
  for await (const chunk of chunks) {
    const text = isFirst && chunk.startsWith(BYTE_ORDER_MARK) ? chunk.slice(1) : chunk
    if (chunk !== '') isFirst = false
    yield toRows(records.push(text))
  }
  yield toRows(records.end())
}

const ONLY_SPACES = /^ *$/

function kindOf(record: string, awaitsHeader: boolean): Row['kind'] {
  if (ONLY_SPACES.test(record)) return 'empty'
  return awaitsHeader ? 'header' : 'row'
}

function withoutAddress(kind: Row['kind'], record: string, form: ListForm): Row {
  const cells = kind === 'header' ? cellsOf(record, form) : undefined
  return { kind, record, cells, address: undefined, hasSeveral: false }
}

function toRow(record: string, form: ListForm): Row {
  const cells = cellsOf(record, form)
  const found = findAddresses(textWithAddress(record, cells, form))
  const address = form.take === 'first' ? found[0] : found.at(-1)
  return { kind: 'row', record, cells, address, hasSeveral: found.length > 1 }
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
  return object === null ? record : textOf(object[columns[column] ?? ''])
}
