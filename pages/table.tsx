import type { Child } from 'hono/jsx'

interface Column {
  readonly text: string
  /** Numbers are compared by their last digits, so they end at the right. */
  readonly isNumber?: true
  /** Sorts by the column. */
  readonly href?: string
  /** The order of its values; undefined: another column sorts. */
  readonly sort?: 'ascending' | 'descending' | undefined
}

/** Of a column of texts, badges or dates, unless it says that it has numbers. */
export type Head = string | Column

/** The heads of columns of numbers. */
export function numbers(...texts: readonly string[]): Column[] {
  return texts.map((text) => ({ text, isNumber: true }))
}

export function headText(head: Head): string {
  return typeof head === 'string' ? head : head.text
}

interface TableProps {
  readonly heads: readonly Head[]
  /** The cells of each row. The first one is the head of the row. */
  readonly rows?: readonly (readonly Child[])[]
  /** What a script draws for each row. */
  readonly points?: readonly string[]
  /** Each cell carries the head of its column, which narrow screens show in `.stacked`. */
  readonly isStacked?: true
  /** Rows of another look. */
  readonly children?: Child
}

/** A table with one row of column heads. */
export function Table({ heads, rows = [], points, isStacked, children }: TableProps) {
  const columns = heads.map((head): Column => (typeof head === 'string' ? { text: head } : head))
  return (
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <HeadCell {...column} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([head, ...values], row) => (
          <tr data-point={points?.[row]}>
            <th scope="row">{head}</th>
            {values.map((value, at) => (
              <td class={classOf(columns[at + 1])} data-head={isStacked && columns[at + 1]?.text}>
                {value}
              </td>
            ))}
          </tr>
        ))}
        {children}
      </tbody>
    </table>
  )
}

function HeadCell({ text, href, sort, ...column }: Column) {
  return (
    <th scope="col" class={classOf(column)} aria-sort={sort}>
      {href === undefined ? text : <a href={href}>{text}</a>}
    </th>
  )
}

function classOf(column: Pick<Column, 'isNumber'> | undefined): 'number' | undefined {
  return column?.isNumber && 'number'
}
