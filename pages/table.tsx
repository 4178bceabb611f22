import type { Child } from 'hono/jsx'

interface TableProps {
  readonly heads: readonly string[]
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
            <th scope="col">{head}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([head, ...values]) => (
          <tr>
            <th scope="row">{head}</th>
            {values.map((value, at) => (
              <td data-head={isStacked && heads[at + 1]}>{value}</td>
            ))}
          </tr>
        ))}
        {children}
      </tbody>
    </table>
  )
}
