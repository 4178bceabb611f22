import { createJsonLines } from '../../lib/geo/answer/bulk.ts'
import { CSV_COLUMNS, createCells } from '../../lib/geo/answer/bulk-csv.ts'
import { locate } from '../../lib/geo/answer/locate.ts'
import type { Library } from '../../lib/geo/library.ts'
import { NO_ADDRESS } from '../../lib/list/find-addresses.ts'
import { KINDS, type ListForm } from '../../lib/list/form.ts'
import type { Row } from '../../lib/list/read-list.ts'
import { createTableWriter, toJsonLine } from '../../lib/list/write-list.ts'
import type { ListOptions } from './options.ts'

export type Geo = Pick<Library, 'find' | 'places'>

/** Writes the rows of a list with their results. */
export interface RowWriter {
  readonly header: string
  readonly line: (row: Row) => string
}

export type Output = 'csv' | 'json' | 'none'

/** `as-read`: JSON lines stay JSON lines; everything else becomes CSV. */
export function outputFor({ kind }: ListForm, keep: ListOptions['keep']): Output {
  if (keep === undefined) return 'none'
  if (keep !== 'as-read') return keep
  return kind === 'json' ? 'json' : 'csv'
}

export function rowWriter(geo: Geo, form: ListForm, output: Output): RowWriter {
  if (output === 'none') return { header: '', line: () => '' }
  return output === 'csv' ? tableRows(geo, form) : jsonRows(geo, form)
}

function tableRows(geo: Geo, form: ListForm): RowWriter {
  const writer = createTableWriter(form, KINDS[form.kind] ?? ',', CSV_COLUMNS)
  const toCells = createCells((address) => locate(geo.places(), address))
  const error = CSV_COLUMNS.map((name) => (name === 'error' ? NO_ADDRESS : undefined))
  const without = writer.toCells(error)
  return {
    header: writer.header(),
    line: (row) => {
      if (row.kind !== 'row') return writer.line(row, writer.names)
      const { address } = row
      if (address === undefined) return writer.line(row, without)
      return writer.line(row, writer.toCells(toCells(address, Date.now())))
    },
  }
}

function jsonRows(geo: Geo, form: ListForm): RowWriter {
  const toJson = createJsonLines(geo.find)
  const without = JSON.stringify({ error: { message: NO_ADDRESS } })
  return {
    header: '',
    line: (row) => {
      if (row.kind !== 'row') return ''
      const { address } = row
      return toJsonLine(
        row,
        address === undefined ? without : toJson(address, Date.now()).trimEnd(),
        form,
      )
    },
  }
}
