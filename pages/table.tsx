import type { Child } from 'hono/jsx'

/** A column whose head is a link that sorts by it. */
export interface SortHead {
  readonly text: string
  readonly href: string
  /** The order of its values; undefined: another column sorts. */
  readonly sort?: 'ascending' | 'descending' | undefined
}

export type Head = string | SortHead

interface TableProps {
  readonly heads: readonly Head[]
  /** The cells of each row. The first one is the head of the row. */
  readonly rows?: readonly (readonly Child[])[]
  /** Each cell carries the head of its column, which narrow screens show in `.stacked`. */
  readonly isStacked?: true
  /** Rows with attributes or with cells that span columns. */
  readonly children?: Child
}

/** A table with one row of column heads. */
export function Table({ heads, rows = [], isStacked, children }: TableProps) {
  return (
    <table>
      <thead>
        <tr>
          {heads.map((head) => (
            <HeadCell head={head} />
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([head, ...values]) => (
          <tr>
            <th scope="row">{head}</th>
            {values.map((value, at) => (
              <td data-head={isStacked && textOf(heads[at + 1])}>{value}</td>
            ))}
          </tr>
        ))}
        {children}
      </tbody>
    </table>
  )
}

function HeadCell({ head }: { readonly head: Head }) {
  if (typeof head === 'string') return <th scope="col">{head}</th>
  const { text, href, sort } = head
  return (
    <th scope="col" aria-sort={sort}>
      <a href={href}>{text}</a>
    </th>
  )
}

function textOf(head: Head | undefined): string | undefined {
  return typeof head === 'string' ? head : head?.text
}
