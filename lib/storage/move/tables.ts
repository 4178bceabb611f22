import type { Client } from '../../db/connection.ts'
import type { PgConnection } from '../../postgres/connection.ts'

/** A table that both databases have, and how to read its rows in the same order from both. */
export interface MovedTable {
  readonly name: string
  /** Columns and their types in PostgreSQL. */
  readonly columns: Columns
  /** The columns of the primary key, in order. */
  readonly key: readonly string[]
  /** The column that PostgreSQL numbers by itself. */
  readonly identity: string | undefined
}

type Columns = Readonly<Record<string, (typeof TYPES)[keyof typeof TYPES]>>

const TYPES = {
  TEXT: 'text',
  INTEGER: 'bigint',
  REAL: 'double precision',
  BLOB: 'bytea',
} as const

/** Not copied: the two databases store the journal, and how far it is summed up, in different ways. */
const JOURNAL_TABLES = ['rum_journal', 'rum_counted']
const JOURNAL_COLUMN = 'last_id'

const COLUMNS = `
  SELECT m.name AS tableName, c.name AS name, c.type AS type, c.pk AS pk
  FROM sqlite_schema AS m JOIN pragma_table_xinfo(m.name) AS c
  WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND c.hidden = 0
  ORDER BY m.name, c.cid`

interface ColumnRow {
  readonly tableName: string
  readonly name: string
  readonly type: keyof typeof TYPES
  readonly pk: number
}

/** Lists the tables of a current database file. A table comes after those that it refers to. */
export async function listTables(
  client: Client,
  connection: PgConnection,
): Promise<readonly MovedTable[]> {
  const identities = await readIdentities(connection)
  const rows = client.prepare<[], ColumnRow>(COLUMNS).all()
  const tables = Map.groupBy(rows, ({ tableName }) => tableName)
  for (const name of JOURNAL_TABLES) tables.delete(name)
  const moved = [...tables].map(([name, columns]) => toTable(name, columns, identities.get(name)))
  return parentsFirst(moved, readParents(client))
}

function toTable(name: string, rows: ColumnRow[], identity: string | undefined): MovedTable {
  const columns: Record<string, Columns[string]> = {}
  for (const row of rows) if (row.name !== JOURNAL_COLUMN) columns[row.name] = TYPES[row.type]
  // SQLite has the column rowid without naming it.
  if (identity !== undefined) columns[identity] = 'bigint'
  const key = rows.filter(({ pk }) => pk > 0).toSorted((a, b) => a.pk - b.pk)
  return { name, columns, key: key.map((row) => row.name), identity }
}

async function readIdentities(connection: PgConnection): Promise<Map<string, string>> {
  const { rows } = await connection.query(
    `SELECT table_name::text, column_name::text FROM information_schema.columns
     WHERE table_schema = current_schema() AND is_identity = 'YES'`,
  )
  return new Map(rows.map(([table, column]) => [String(table), String(column)]))
}

function readParents(client: Client): Map<string, string[]> {
  const rows = client
    .prepare<[], { child: string; parent: string }>(
      `SELECT m.name AS child, f."table" AS parent
       FROM sqlite_schema AS m JOIN pragma_foreign_key_list(m.name) AS f WHERE m.type = 'table'`,
    )
    .all()
  const parents = new Map<string, string[]>()
  for (const { child, parent } of rows) parents.set(child, [...(parents.get(child) ?? []), parent])
  return parents
}

function parentsFirst(
  tables: readonly MovedTable[],
  parents: ReadonlyMap<string, readonly string[]>,
): MovedTable[] {
  const byName = new Map(tables.map((table) => [table.name, table]))
  const ordered = new Set<MovedTable>()
  const add = (table: MovedTable) => {
    for (const parent of parents.get(table.name) ?? []) {
      const known = byName.get(parent)
      if (known !== undefined && known !== table) add(known)
    }
    ordered.add(table)
  }
  for (const table of tables) add(table)
  return [...ordered]
}

/** The statement that reads all rows in the order of the key, in the SQL of both databases. */
export function selectAll({ name, columns, key }: MovedTable): string {
  return `SELECT ${quoted(Object.keys(columns))} FROM "${name}" ORDER BY ${quoted(key)}`
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}
