import type { Secrets } from '../../config/secrets.ts'
import { type Client, openReadOnly } from '../../db/connection.ts'
import type { PgConnection, PgPool } from '../../postgres/connection.ts'
import { lockMigrations, migratePg } from '../../postgres/migrate.ts'
import { inTransaction } from '../../postgres/transaction.ts'
import { rowsOf, toArrays } from '../../rum/postgres/bulk.ts'
import { storable } from '../pg-engine.ts'
import { writePgSecrets } from '../pg-secrets.ts'
import { type Copying, copyTable } from './copy-table.ts'
import { type MovedRows, type Row, readFromFile, readFromPostgres } from './rows.ts'
import { listTables, type MovedTable, quoted, selectAll } from './tables.ts'
import { COPY_SETTINGS, differenceError, type MoveWatcher } from './watcher.ts'

interface ImportOptions extends MoveWatcher {
  /** A current database file whose journal is summed up, and that nobody uses. */
  readonly file: string
  readonly secrets: Secrets
  readonly pool: PgPool
  /** Encrypts the secrets. */
  readonly password: string
}

/**
 * Copies all rows of a database file, and the secrets, to an empty database of PostgreSQL, in one
 * transaction: if it is interrupted, or a copy differs, the database stays empty. Throws if the database
 * holds data.
 */
export async function importDatabase(options: ImportOptions): Promise<void> {
  const { file, secrets, pool, password, ...watcher } = options
  await pool.use(refuseOtherTables)
  await migratePg(pool)
  const client = openReadOnly(file)
  try {
    // A command may write to the file meanwhile: all tables are read as they are now.
    client.exec('BEGIN')
    await inTransaction(pool, async (connection) => {
      await connection.runScript(COPY_SETTINGS)
      const tables = await listTables(client, connection)
      await lockWithoutTriggers(connection, tables)
      await refuseRows(connection)
      const moved: MovedRows[] = []
      for (const table of tables) {
        moved.push(await copyTable({ ...copyingOf(client, connection, table), ...watcher }))
      }
      if (!moved.every(({ ok }) => ok)) throw differenceError(moved, 'nothing was imported')
      await writePgSecrets(connection, secrets, password)
      await connection.runScript(switchTriggers(tables, 'ENABLE'))
    })
  } finally {
    client.close()
  }
}

/** Throws if another program's tables are in the database. */
async function refuseOtherTables(connection: PgConnection): Promise<void> {
  const { rows } = await connection.query(
    `SELECT tablename::text FROM pg_tables
     WHERE schemaname = current_schema() AND to_regclass('schema_version') IS NULL LIMIT 1`,
  )
  if (rows.length > 0) throw notEmpty([String(rows[0]?.[0])])
}

/**
 * Waits until no other import runs, not even the rest of a killed one. Then makes starting nodes and writing
 * commands wait, and turns off the triggers, because rows are copied as they are.
 */
async function lockWithoutTriggers(
  connection: PgConnection,
  tables: readonly MovedTable[],
): Promise<void> {
  await lockMigrations(connection)
  await connection.runScript(switchTriggers(tables, 'DISABLE'))
  await connection.query('LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE')
}

function switchTriggers(tables: readonly MovedTable[], to: 'ENABLE' | 'DISABLE'): string {
  return tables.map(({ name }) => `ALTER TABLE "${name}" ${to} TRIGGER USER;`).join('\n')
}

async function refuseRows(connection: PgConnection): Promise<void> {
  const { rows } = await connection.query(
    `SELECT tablename::text FROM pg_tables
     WHERE schemaname = current_schema() AND tablename <> 'schema_version' ORDER BY 1`,
  )
  const names = rows.map(([name]) => String(name))
  const found = await connection.query(
    names.map((name) => `(SELECT '${name}' FROM "${name}" LIMIT 1)`).join(' UNION ALL '),
  )
  if (found.rows.length > 0) throw notEmpty(found.rows.map(([name]) => String(name)))
}

function notEmpty(tables: readonly string[]): Error {
  const list = tables.slice(0, 3).join(', ')
  return new Error(`The database already holds data (${list}): name a new, empty one`)
}

/** Says how to copy a table from the file to PostgreSQL. */
function copyingOf(client: Client, connection: PgConnection, table: MovedTable): Copying {
  const { text, width } = insertInto(table)
  return {
    table,
    rows: readStorable(client, selectAll(table)),
    insert: (page) => connection.query(text, toArrays(page, width)),
    readCopy: async () => {
      await continueNumbers(connection, table)
      return readFromPostgres(connection, selectAll(table), `all_${table.name}`)
    },
  }
}

function insertInto({ name, columns }: MovedTable) {
  const typed = Object.fromEntries(Object.entries(columns).map(([key, type]) => [`"${key}"`, type]))
  const names = quoted(Object.keys(columns))
  return {
    text: `INSERT INTO "${name}" (${names}) SELECT ${names} FROM ${rowsOf(typed, 'added')}`,
    width: Object.keys(columns).length,
  }
}

function* readStorable(client: Client, sql: string): Generator<Row[]> {
  for (const page of readFromFile(client, sql)) {
    yield page.map((row) => row.map(storable))
  }
}

/** Makes PostgreSQL number new rows from the largest number on. */
async function continueNumbers(
  connection: PgConnection,
  { name, identity }: MovedTable,
): Promise<void> {
  if (identity === undefined) return
  await connection.query(
    `SELECT setval(pg_get_serial_sequence('${name}', '${identity}'),
       (SELECT coalesce(max("${identity}"), 0) + 1 FROM "${name}"), false)`,
  )
}
