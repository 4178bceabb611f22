import type { Columns } from '../../../lib/db/ledger/columns.ts'
import {
  type CallerBucket,
  NOTHING_PENDING,
  type OperationUse,
  type PendingCounts,
  type UserUse,
} from '../../../lib/db/ledger/pending-counts.ts'

/** For requests that nobody pays for. */
export const UNPAID = { overage: 0, chargeable: 0, cap: 0, maxUnits: 0 } as const

interface PendingRows {
  readonly operations?: readonly OperationUse[]
  readonly buckets?: readonly CallerBucket[]
  readonly users?: readonly UserUse[]
}

/** Returns what a ledger would write of these rows. */
export function pendingCounts(rows: PendingRows): PendingCounts {
  const given = Object.entries(rows).filter(([, { length }]) => length > 0)
  return {
    ...NOTHING_PENDING,
    ...Object.fromEntries(given.map(([kind, of]) => [kind, toColumns(of)])),
  }
}

function toColumns<Row extends object>(rows: readonly Row[]): Columns<Row> {
  const lists = Object.keys(rows[0] ?? {}).map((name) => {
    const list = rows.map((row) => Reflect.get(row, name))
    return [name, typeof list[0] === 'number' ? Float64Array.from(list) : list]
  })
  // safe: a list for each name of a row
  return Object.fromEntries(lists) as Columns<Row>
}
