import { Table } from '../../table.tsx'

interface ListTableProps {
  /** The id of the heading. */
  readonly labelledBy: string
  readonly heads: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** Longer cells, such as lines of a log, are cut off. */
const SHOWN_CHARACTERS = 100

/** Rows of a list with their results. */
export function ListTable({ labelledBy, heads, rows }: ListTableProps) {
  return (
    <figure class="wide answers" aria-labelledby={labelledBy} tabindex={0}>
      <Table heads={heads} rows={rows.map((cells) => cells.map(shortened))} />
    </figure>
  )
}

function shortened(cell: string): string {
  return cell.length > SHOWN_CHARACTERS ? `${cell.slice(0, SHOWN_CHARACTERS - 1)}…` : cell
}
