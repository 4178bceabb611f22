import { createHash } from 'node:crypto'
import type { Client } from '../../db/connection.ts'
import type { PgConnection } from '../../postgres/connection.ts'

/** The values of a row, in the order of the columns. */
export type Row = readonly unknown[]

/** Rows that are read at once. */
const PAGE_ROWS = 2_000

/** Rows of a table, a page at a time. */
export type Pages = Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>

/** The result of moving a table. */
export interface MovedRows {
  readonly table: string
  readonly rows: number
  /** SHA-256 of the rows in the order of their keys, as they were read. */
  readonly sha256: string
  /** Whether the copy has the same hash. */
  readonly ok: boolean
}

/** Reads the rows of a statement. No other statement may run on the connection meanwhile. */
export function* readFromFile(client: Client, sql: string): Generator<Row[]> {
  let page: Row[] = []
  for (const row of client.prepare<[], unknown[]>(sql).raw().iterate()) {
    page.push(row)
    if (page.length < PAGE_ROWS) continue
    yield page
    page = []
  }
  if (page.length > 0) yield page
}

/** Reads the rows of a statement within a transaction. `cursor`: a name that the transaction has not used. */
export async function* readFromPostgres(
  connection: PgConnection,
  sql: string,
  cursor: string,
): AsyncGenerator<Row[]> {
  await connection.query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`)
  for (;;) {
    const { rows } = await connection.query(`FETCH ${PAGE_ROWS} FROM ${cursor}`)
    if (rows.length === 0) break
    yield rows
  }
  await connection.query(`CLOSE ${cursor}`)
}

/** Reads all pages, calls `write` for each of them, and returns the number of rows and their hash. */
export async function digestPages(
  pages: Pages,
  write: (page: readonly Row[]) => unknown = () => {},
) {
  const hash = createHash('sha256')
  let rows = 0
  for await (const page of pages) {
    hash.update(page.map(textOf).join(''))
    rows += page.length
    await write(page)
  }
  return { rows, sha256: hash.digest('hex') }
}

function textOf(row: Row): string {
  return `${JSON.stringify(row.map(jsonValueOf))}\n`
}

function jsonValueOf(value: unknown): unknown {
  return value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('base64') } : value
}
