import { dsvFormat } from 'd3-dsv'
import { csvCell } from '../contract/geo/csv-cell.ts'
import { KINDS, type ListForm } from './form.ts'
import { toObject } from './json-object.ts'
import type { Row } from './read-list.ts'

export type Cell = string | number | boolean | undefined

/**
 * Writes the rows of a list as CSV with more cells at their end. The list's own cells stay as they are;
 * a line without cells becomes one cell. `delimiter` is the list's own, or a tab for TSV.
 */
export function createTableWriter(form: ListForm, delimiter: string, names: readonly string[]) {
  const { formatRow } = dsvFormat(delimiter)
  const own = KINDS[form.kind]
  const columns = ownNames(form)
  const width = columns.length
  const added = formatRow(uniqueNames(names, columns))
  const ownCells = ({ record, cells }: Row): string => {
    if (cells === undefined) return formatRow([record])
    const isAsWritten = own === delimiter && !record.includes('"')
    const text = isAsWritten ? record : formatRow([...cells])
    return cells.length < width ? text + delimiter.repeat(width - cells.length) : text
  }
  return {
    /** Names for the columns, if the list has no header. */
    header: (): string => (form.hasHeader ? '' : toLine(formatRow([...columns]), added)),
    /** The row with its cells; the header with the names of the added columns. */
    line: (row: Row, added: string): string => {
      if (row.kind === 'comment') return ''
      return row.kind === 'empty' ? row.record + form.lineBreak : toLine(ownCells(row), added)
    },
    /** The cells to add to a row, as `line` takes them. Cells that a spreadsheet would run are escaped. */
    toCells: (cells: readonly Cell[]): string => formatRow(cells.map(csvCell)),
    names: added,
  }

  function toLine(text: string, more: string): string {
    return `${text}${delimiter}${more}${form.lineBreak}`
  }
}

/** The names of the list's own columns in its table; a line without cells is one cell. */
export function ownNames({ kind, columns }: ListForm): readonly string[] {
  return KINDS[kind] === undefined ? [LINE] : columns
}

/** The name of the column of lines without cells. */
export const LINE = 'line'

/** Writes the rows of a list with their results. */
export interface Lines {
  readonly header: string
  readonly line: (row: Row) => string
}

export type AnswerTo<Answer> = (row: Row) => Answer

interface Columns<Answer> {
  readonly names: readonly string[]
  readonly cellsOf: (answer: Answer) => readonly Cell[]
}

/** Lines of CSV or TSV: the rows as `createTableWriter` writes them, with the cells of their answers. */
export function tableLines<Answer extends object>(
  form: ListForm,
  delimiter: string,
  { names, cellsOf }: Columns<Answer>,
  answerTo: AnswerTo<Answer>,
): Lines {
  const writer = createTableWriter(form, delimiter, names)
  const toAdded = remember((answer: Answer) => writer.toCells(cellsOf(answer)))
  return {
    header: writer.header(),
    line: (row) => writer.line(row, row.kind === 'row' ? toAdded(answerTo(row)) : writer.names),
  }
}

/** Lines of JSON: the rows as `toJsonLine` writes them, with their answers in JSON. */
export function jsonLines<Answer extends object>(
  form: ListForm,
  toJson: (answer: Answer) => string,
  answerTo: AnswerTo<Answer>,
): Lines {
  const toResult = remember(toJson)
  return {
    header: '',
    line: (row) => (row.kind === 'row' ? toJsonLine(row, toResult(answerTo(row)), form) : ''),
  }
}

/** Keeps the texts of answers, which rows with the same address share. */
function remember<Answer extends object>(
  write: (answer: Answer) => string,
): (answer: Answer) => string {
  const texts = new WeakMap<Answer, string>()
  return (answer) => {
    const text = texts.get(answer) ?? write(answer)
    texts.set(answer, text)
    return text
  }
}

/** The delimiter of a list that is written as CSV: its own, or a comma. */
export function csvDelimiter({ kind }: ListForm): string {
  return kind === 'semicolon' ? ';' : ','
}

/** The delimiter of a list that stays as it is. Results may contain spaces. */
export function ownDelimiter({ kind }: ListForm): string {
  return kind === 'space' ? ',' : (KINDS[kind] ?? ',')
}

/** Puts `geo_` before the names that the list has already. */
function uniqueNames(names: readonly string[], taken: readonly string[]): string[] {
  const all = new Set(taken.map((name) => name.toLowerCase()))
  return names.map((name) => {
    let unique = name
    while (all.has(unique)) unique = `geo_${unique}`
    return unique
  })
}

/**
 * The row as a line of JSON with a result in JSON, which is the value of `geo`: a line of JSON itself as
 * it is, cells by the names of their columns.
 */
export function toJsonLine(row: Row, result: string, { columns }: ListForm): string {
  const own = ownJson(row, columns)
  let name = 'geo'
  while (own.includes(`"${name}"`)) name = `geo_${name}`
  const separator = own === '{' ? '' : ','
  return `${own}${separator}"${name}":${result}}\n`
}

/** An object in JSON, without its closing brace. */
function ownJson({ record, cells }: Row, columns: readonly string[]): string {
  if (cells !== undefined) return `{${namedCells(cells, columns).join(',')}`
  const line = record.trim()
  if (toObject(line) !== null) return line.slice(0, -1).trimEnd()
  return `{"line":${JSON.stringify(record)}`
}

function namedCells(cells: readonly string[], columns: readonly string[]): string[] {
  const names = new Set<string>()
  return cells.map((cell, at) => {
    let name = columns[at] ?? `column_${at + 1}`
    while (names.has(name)) name = `${name}_${at + 1}`
    names.add(name)
    return `${JSON.stringify(name)}:${JSON.stringify(cell)}`
  })
}
