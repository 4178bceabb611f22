import { reasonOf } from '../../parts/reason.ts'
import type { MovedRows } from './rows.ts'

/** Gets the progress of a move. */
export interface MoveWatcher {
  /** Called while a table is copied, with the rows so far. */
  readonly onRows: (table: string, rows: number) => void
  /** Called once a table is copied and compared. */
  readonly onTable: (moved: MovedRows) => void
}

/** Runs `copy`. If it fails, the error names the table. */
export async function naming<Result>(
  { name }: { readonly name: string },
  copy: () => Promise<Result>,
): Promise<Result> {
  try {
    return await copy()
  } catch (cause) {
    throw new Error(`Cannot copy ${name}: ${reasonOf(cause)}`, { cause })
  }
}

export function differenceError(moved: readonly MovedRows[], outcome: string): Error {
  const tables = moved.filter(({ ok }) => !ok).map(({ table }) => table)
  return new Error(`The copy of ${tables.join(', ')} differs: ${outcome}`)
}

/** Settings of the transaction: a large table takes longer than a request may, and no digit may get lost. */
export const COPY_SETTINGS = `SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL extra_float_digits = 1`
