import type { Client } from '../../../lib/db/connection.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'

/** Rows by the name of their table, in any order but always the same one. */
export type AllRows = Readonly<Record<string, readonly string[]>>

/** These, and a column, say how far a journal is summed up. */
const OF_JOURNAL = ['rum_journal', 'rum_counted']
const OF_JOURNAL_COLUMN = 'last_id'
/** In these, the order of insertion counts. */
const NUMBERED = ['api_keys', 'cap_notices', 'inquiries', 'sites', 'users']

/** The statements that read all tables but those of the journal, in the SQL of both databases. */
function selectEach(client: Client): ReadonlyMap<string, string> {
  const tables = client
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' ORDER BY name`,
    )
    .pluck()
    .all()
  return new Map(
    tables
      .filter((table) => !OF_JOURNAL.includes(table))
      .map((table) => [table, `SELECT ${listColumns(client, table)} FROM ${table}`]),
  )
}

function listColumns(client: Client, table: string): string {
  const names = client
    .prepare<[string], string>('SELECT name FROM pragma_table_xinfo(?)')
    .pluck()
    .all(table)
  const kept = names.filter((name) => name !== OF_JOURNAL_COLUMN).map((name) => `"${name}"`)
  return [...kept, ...(NUMBERED.includes(table) ? ['rowid'] : [])].join(', ')
}

export function rowsOfFile(client: Client): AllRows {
  const all = [...selectEach(client)].map(([table, sql]) => {
    const rows = client.prepare<[], unknown[]>(sql).raw().all()
    return [table, toLines(rows)] as const
  })
  return Object.fromEntries(all)
}

/** Reads the tables of PostgreSQL that a database file has. */
export async function rowsOfPostgres(pool: PgPool, client: Client): Promise<AllRows> {
  const all: Record<string, readonly string[]> = {}
  for (const [table, sql] of selectEach(client)) {
    const { rows } = await pool.use((connection) => connection.query(sql))
    all[table] = toLines(rows)
  }
  return all
}

function toLines(rows: readonly unknown[][]): string[] {
  const plain = (value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value
  return rows.map((row) => JSON.stringify(row.map(plain))).toSorted()
}
