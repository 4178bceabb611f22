import type { Outcome } from '../../db/engine.ts'
import type { PgConnection } from '../connection.ts'

/** Names of columns and their types, in order. */
export type Columns = Readonly<Record<string, 'text' | 'bigint' | 'double precision' | 'bytea'>>

/** A statement for any number of rows: each parameter is the array of one column. */
export interface Bulk {
  readonly text: string
  readonly width: number
}

/** The values of a row, in the order of the columns. */
export type Tuple = readonly unknown[]

/** Rows from the parameters `$1`, `$2` and so on, one for each column. */
export function rowsOf(columns: Columns, name: string): string {
  const arrays = Object.values(columns).map((type, at) => `$${at + 1}::${type}[]`)
  return `unnest(${arrays.join(', ')}) AS ${name} (${listNames(columns)})`
}

function listNames(columns: Columns): string {
  return Object.keys(columns).join(', ')
}

/** `onConflict` is what follows ON CONFLICT. */
export function insertAll(table: string, columns: Columns, onConflict: string): Bulk {
  const names = listNames(columns)
  return {
    text: `INSERT INTO ${table} (${names}) SELECT ${names} FROM ${rowsOf(columns, 'added')}
      ON CONFLICT ${onConflict}`,
    width: Object.keys(columns).length,
  }
}

/** Inserts rows, or replaces those of the same keys. */
export function replaceAll(table: string, key: Columns, values: Columns): Bulk {
  const updates = Object.keys(values).map((name) => `${name} = excluded.${name}`)
  const onConflict = `(${listNames(key)}) DO UPDATE SET ${updates.join(', ')}`
  return insertAll(table, { ...key, ...values }, onConflict)
}

/** Reads `wanted` from the rows of the given keys, after the columns of the key. */
export function readAll(table: string, key: Columns, wanted: readonly string[] = []): Bulk {
  const keys = listNames(key)
  return {
    text: `SELECT ${[keys, ...wanted].join(', ')} FROM ${rowsOf(key, 'wanted')}
      JOIN ${table} USING (${keys})`,
    width: Object.keys(key).length,
  }
}

/** Runs the statement, unless there are no rows. */
export async function runBulk(
  connection: PgConnection,
  { text, width }: Bulk,
  rows: readonly Tuple[],
): Promise<Outcome> {
  if (rows.length === 0) return { rows: [], changes: 0 }
  const columns = Array.from({ length: width }, (_, at) => rows.map((row) => row[at]))
  return connection.query(text, columns)
}
