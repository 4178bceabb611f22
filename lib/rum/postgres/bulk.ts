import type { Outcome } from '../../parts/sql.ts'
import type { PgConnection } from '../../postgres/connection.ts'

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

/** The new values, by column, of a row `stored` that has the same key as an added row `excluded`. */
export type Changes = Readonly<Record<string, string>>

/**
 * Inserts rows. If the key is stored already, the row changes the stored one; without `changes`, it is left
 * out.
 */
export function addAll(
  table: string,
  key: Columns,
  { values, changes }: { readonly values: Columns; readonly changes: Changes },
): Bulk {
  const columns = { ...key, ...values }
  const names = listNames(columns)
  const updates = Object.entries(changes).map(([name, value]) => `${name} = ${value}`)
  const action = updates.length === 0 ? 'NOTHING' : `UPDATE SET ${updates.join(', ')}`
  return {
    text: `INSERT INTO ${table} AS stored (${names}) SELECT ${names} FROM ${rowsOf(columns, 'added')}
      ON CONFLICT (${listNames(key)}) DO ${action}`,
    width: Object.keys(columns).length,
  }
}

/** Inserts rows, or replaces those of the same keys. */
export function replaceAll(table: string, key: Columns, values: Columns): Bulk {
  const changes = Object.fromEntries(Object.keys(values).map((name) => [name, `excluded.${name}`]))
  return addAll(table, key, { values, changes })
}

/** Reads `wanted` from the rows of the given keys, after the columns of the key. */
export function readAll(table: string, key: Columns, wanted: readonly string[] = []): Bulk {
  const columns = [...Object.keys(key), ...wanted]
  const rows = `${rowsOf(key, 'wanted')} JOIN ${table} USING (${listNames(key)})`
  return { text: `SELECT ${columns.join(', ')} FROM ${rows}`, width: Object.keys(key).length }
}

/** Runs the statement, unless there are no rows. Returns what it reads. */
export async function runBulk(
  connection: PgConnection,
  { text, width }: Bulk,
  rows: readonly Tuple[],
): Promise<Outcome['rows']> {
  if (rows.length === 0) return []
  return (await connection.query(text, toArrays(rows, width))).rows
}

/** An array for each column. */
export function toArrays(rows: readonly Tuple[], width: number): unknown[][] {
  return Array.from({ length: width }, (_, at) => rows.map((row) => row[at]))
}
