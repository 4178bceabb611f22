import type { Child } from 'hono/jsx'
import { type Head, Table } from '../../table.tsx'

export interface ShareRow {
  readonly name: string
  /** Where the row leads; undefined: nowhere. */
  readonly href?: string | undefined
  /** Between 0 and 1. */
  readonly share: number
  readonly cells: readonly Child[]
}

interface ShareTableProps {
  readonly label: string
  readonly heads: readonly Head[]
  readonly rows: readonly ShareRow[]
}

/** A table whose rows have a bar behind their names, as long as their share. */
export function ShareTable({ label, heads, rows }: ShareTableProps) {
  return (
    <section class="wide share-table" tabindex={0} aria-label={`Table of ${label}`}>
      <Table
        heads={heads}
        rows={rows.map(({ name, href, share, cells }) => [
          <span class="share">
            <svg viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
              <rect width={(share * 100).toFixed(2)} height="1" />
            </svg>
            {href === undefined ? name : <a href={href}>{name}</a>}
          </span>,
          ...cells,
        ])}
      />
    </section>
  )
}
