import { reasonOf } from '../reason.ts'
import type { MovedRows } from './rows.ts'

/** Hears how far a move is. */
export interface MoveWatcher {
  /** Called while a table is copied, with the rows so far. */
  readonly onRows: (table: string, rows: number) => void
  /** Called once a table is copied and compared. */
  readonly onTable: (moved: MovedRows) => void
}

/** Runs `copy`, and names the table if it fails. */
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

/** For a transaction: moving a large table takes longer than a request may, and no digit may get lost. */
export const SETTINGS = `SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0;
  SET LOCAL extra_float_digits = 1`
