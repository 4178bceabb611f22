import type { Outcome } from '../../db/engine.ts'
import type { Layout } from '../citus/layout.ts'
import { type ShardedWrite, shardedWrite, writeToShard } from '../citus/sharded-write.ts'
import type { PgConnection } from '../connection.ts'

/**
 * A connection that writes telemetry of a node. On Citus, all rows of a transaction must be in the same
 * shard.
 */
export interface RumConnection extends PgConnection {
  readonly layout: Layout
  readonly node: string
}

/** Names of columns and their types, in order. */
export type Columns = Readonly<Record<string, 'text' | 'bigint' | 'double precision' | 'bytea'>>

/** A statement for any number of rows: each parameter is the array of one column. */
export interface BulkRead {
  readonly text: Readonly<Record<Layout, string>>
  readonly width: number
}

export interface BulkWrite {
  readonly text: string
  readonly width: number
  readonly sharded: ShardedWrite
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

/** The new values, by column, of a row `stored` that has the same key as an added row `added`. */
export type Changes = Readonly<Record<string, string>>

/**
 * Inserts rows. If the key is stored already, the row changes the stored one; without `changes`, it is left
 * out.
 */
export function addAll(
  table: string,
  key: Columns,
  { values, changes }: { readonly values: Columns; readonly changes: Changes },
): BulkWrite {
  const columns = { ...key, ...values }
  const names = listNames(columns)
  const updates = Object.entries(changes).map(([name, value]) => `${name} = ${value}`)
  const conflict = `ON CONFLICT (${listNames(key)}) DO `.concat(
    updates.length === 0
      ? 'NOTHING'
      : `UPDATE SET ${updates.join(', ').replaceAll('added.', 'excluded.')}`,
  )
  return {
    text: `INSERT INTO ${table} AS stored (${names}) SELECT ${names} FROM ${rowsOf(columns, 'added')}
      ${conflict}`,
    width: Object.keys(columns).length,
    sharded: shardedWrite({ table, key: Object.keys(key), columns, updates, conflict }),
  }
}

/** Inserts rows, or replaces those of the same keys. */
export function replaceAll(table: string, key: Columns, values: Columns): BulkWrite {
  const changes = Object.fromEntries(Object.keys(values).map((name) => [name, `added.${name}`]))
  return addAll(table, key, { values, changes })
}

/** Reads `wanted` from the rows of the given keys, after the columns of the key. */
export function readAll(table: string, key: Columns, wanted: readonly string[] = []): BulkRead {
  return readJoined(table, key, { columns: [...Object.keys(key), ...wanted] })
}

interface JoinOptions {
  readonly columns: readonly string[]
  readonly where?: string
  /** Follows the conditions. */
  readonly rest?: string
}

/** Reads `columns` of the rows of the given keys. */
export function readJoined(
  table: string,
  key: Columns,
  { columns, where = 'TRUE', rest = '' }: JoinOptions,
): BulkRead {
  const rows = `${rowsOf(key, 'wanted')} JOIN ${table} USING (${listNames(key)})`
  const select = `SELECT ${columns.join(', ')} FROM ${rows} WHERE ${where}`
  return {
    text: {
      local: `${select} ${rest}`,
      distributed: `${select} AND ${table}.site_id = ANY ($1::text[]) ${rest}`,
    },
    width: Object.keys(key).length,
  }
}

/** Runs the statement, unless there are no rows. */
export async function readBulk(
  connection: RumConnection,
  { text, width }: BulkRead,
  rows: readonly Tuple[],
): Promise<Outcome['rows']> {
  if (rows.length === 0) return []
  return (await connection.query(text[connection.layout], toArrays(rows, width))).rows
}

/** Runs the statement, unless there are no rows. */
export async function writeBulk(
  connection: RumConnection,
  { text, width, sharded }: BulkWrite,
  rows: readonly Tuple[],
): Promise<void> {
  if (rows.length === 0) return
  if (connection.layout === 'local') await connection.query(text, toArrays(rows, width))
  else await writeToShard(connection, sharded, rows)
}

/** An array for each column. */
export function toArrays(rows: readonly Tuple[], width: number): unknown[][] {
  return Array.from({ length: width }, (_, at) => rows.map((row) => row[at]))
}
