import { type ListForm, nameOfColumn } from '../../../lib/address-lists/form.ts'
import { LINE, ownNames } from '../../../lib/address-lists/write-list.ts'
import { Table } from '../../table.tsx'
import { addedLabels, type BatchColumn } from './batch-columns.ts'

export interface ListTableProps {
  /** The id of the heading. */
  readonly labelledBy: string
  readonly form: ListForm
  /** The columns after the list's own. */
  readonly columns: readonly BatchColumn[]
  /** All cells of each row, the list's own first. */
  readonly rows: readonly (readonly string[])[]
}

/** Longer cells, such as lines of a log, are cut off. */
const SHOWN_CHARACTERS = 100

/** Rows of a list with their results, without the columns that say nothing in these rows. */
export function ListTable({ labelledBy, form, columns, rows }: ListTableProps) {
  const own = ownNames(form)
  const heads = [...own, ...addedLabels(columns)]
  // A row may have more cells of its own than there are names.
  const width = Math.max(heads.length, ...rows.map(({ length }) => length))
  const isEmpty = (at: number) => at >= own.length && rows.every((cells) => !cells[at])
  const shown = Array.from({ length: width }, (_, at) => at).filter(
    (at) => !isEmpty(at) && !isRepeated(at, form, rows),
  )
  const cellsOf = (cells: readonly string[]) => shown.map((at) => shortened(cells[at] ?? ''))
  return (
    <figure class="wide answers" aria-labelledby={labelledBy} tabindex={0}>
      <Table heads={cellsOf(heads)} rows={rows.map(cellsOf)} />
    </figure>
  )
}

/** Whether the column has no name in the list, and the address that was looked up has the same text. */
function isRepeated(at: number, form: ListForm, rows: ListTableProps['rows']): boolean {
  const own = ownNames(form)
  if (at !== (form.column ?? 0) || ![LINE, nameOfColumn(at)].includes(own[at] ?? '')) return false
  return rows.every((cells) => cells[at] === cells[own.length])
}

function shortened(cell: string): string {
  return cell.length > SHOWN_CHARACTERS ? `${cell.slice(0, SHOWN_CHARACTERS - 1)}…` : cell
}
