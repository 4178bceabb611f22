import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, describe, it } from 'node:test'
import { openDb } from '../../lib/db/open.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { openPglite } from '../support/database/pglite.ts'
import { shared } from '../support/scene/freshly.ts'

/** The types of a column, in SQLite and in PostgreSQL. */
const TYPES = new Map([
  ['TEXT', 'text'],
  ['INTEGER', 'bigint'],
  ['REAL', 'double precision'],
  ['BLOB', 'bytea'],
])

/**
 * Several nodes write telemetry. In PostgreSQL, the journal has a row for each commit of each node, and only
 * `rum_counted` says which of them the other rows include.
 */
const ONLY_SQLITE = [
  'rum_days last_id',
  ...['beacon', 'country', 'id', 'received_at', 'site_id'].map((name) => `rum_journal ${name}`),
  'rum_pages last_id',
  'rum_paths last_id',
  'rum_sketches last_id',
]
const ONLY_POSTGRES = [
  'buckets granted',
  ...['rum_counted checkpoint', 'rum_counted node'],
  ...['entries', 'last_id', 'node'].map((name) => `rum_journal ${name}`),
]
/** SQLite needs none for nodes, and keeps its version in the file itself and its secrets in another one. */
const ONLY_POSTGRES_TABLES = "'schema_version', 'leases', 'nodes', 'secrets'"
/** The newest migration of the previous release, which works on beside this one: see docs/growth.md. */
const PREVIOUS_RELEASE = 25
const OTHER_KEYS: Readonly<Record<string, string>> = {
  rum_counted: 'site_id,node',
  rum_journal: 'node,last_id',
}

describe('the schemas of SQLite and PostgreSQL', () => {
  const sqlite = openDb(':memory:')
  after(() => sqlite.$client.close())
  const postgres = shared(openPglite)

  const listInSqlite = (sql: string) => sqlite.$client.prepare(sql).raw().all()
  const listInPostgres = async (sql: string) =>
    (await postgres.use((connection) => connection.query(sql))).rows

  it('are applied to PostgreSQL once', async () => {
    const files = readdirSync('lib/postgres/migrations').toSorted()
    assert.equal(files[0], '0024-tables.sql')
    assert.deepEqual(await migratePg(postgres), files)
    assert.deepEqual(await migratePg(postgres), [])
  })

  it('let servers of the previous release, which reads all its tables, work on', async () => {
    const [version] = await listInPostgres('SELECT usable_from FROM schema_version')
    assert.deepEqual(version?.map(Number), [PREVIOUS_RELEASE])
    assert.deepEqual(await listInPostgres('SELECT id FROM duplicate_subscriptions'), [])
  })

  it('are refused by an older release, unless they leave it working', async () => {
    const sql = 'UPDATE schema_version SET number = $1, usable_from = $2'
    const set = (number: number, usableFrom: number) =>
      postgres.use((connection) => connection.query(sql, [number, usableFrom]))
    await set(9999, 9998)
    await assert.rejects(migratePg(postgres), /its schema version is 9999, .*use a newer release/)
    await set(9999, 24)
    assert.deepEqual(await migratePg(postgres), [])
    await set(24, 24)
  })

  it('have the same columns with the same types, defaults and constraints, but for the nodes', async () => {
    const inSqlite = listInSqlite(
      `SELECT m.name, c.name, c.type, c."notnull" OR c.pk > 0, coalesce(c.dflt_value, '')
       FROM sqlite_schema AS m JOIN pragma_table_xinfo(m.name) AS c
       WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' ORDER BY 1, 2`,
    ).map((row) => {
      type Row = [table: string, column: string, type: string, isRequired: number, standard: string]
      const [table, column, type, isRequired, standard] = row as Row
      return [table, column, TYPES.get(type), isRequired === 1, standard]
    })
    const nameOf = (row: unknown[]) => row.slice(0, 2).join(' ')
    const inPostgres = await listInPostgres(
      `SELECT table_name, column_name, data_type, is_nullable = 'NO',
         coalesce(replace(column_default, '::text', ''), '')
       FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
       WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
         AND column_name <> 'rowid' AND table_name NOT IN (${ONLY_POSTGRES_TABLES})
       ORDER BY table_name COLLATE "C", column_name COLLATE "C"`,
    )
    const isOnlyIn = (names: readonly string[]) => (row: unknown[]) => names.includes(nameOf(row))
    assert.deepEqual(inSqlite.filter(isOnlyIn(ONLY_SQLITE)).map(nameOf), ONLY_SQLITE)
    assert.deepEqual(inPostgres.filter(isOnlyIn(ONLY_POSTGRES)).map(nameOf), ONLY_POSTGRES)
    const common = inSqlite.filter((row) => !isOnlyIn(ONLY_SQLITE)(row))
    const found = inPostgres.filter((row) => !isOnlyIn(ONLY_POSTGRES)(row))
    assert.deepEqual(found, common)
  })

  it('have the same views', async () => {
    const inSqlite = listInSqlite(
      `SELECT m.name, c.name FROM sqlite_schema AS m JOIN pragma_table_xinfo(m.name) AS c
       WHERE m.type = 'view' ORDER BY 1, c.cid`,
    )
    const inPostgres = await listInPostgres(
      `SELECT table_name, column_name
       FROM information_schema.columns JOIN information_schema.views USING (table_schema, table_name)
       WHERE table_schema = 'public' ORDER BY 1, ordinal_position`,
    )
    assert.ok(inSqlite.length > 0)
    assert.deepEqual(inPostgres, inSqlite)
  })

  it('have the same keys', async () => {
    const inSqlite = listInSqlite(
      `SELECT m.name, group_concat(c.name, ',' ORDER BY c.pk)
       FROM sqlite_schema AS m JOIN pragma_table_info(m.name) AS c
       WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND c.pk > 0 GROUP BY 1 ORDER BY 1`,
    )
    const inPostgres = await listInPostgres(
      `SELECT c.relname, string_agg(a.attname, ',' ORDER BY array_position(i.indkey::int2[], a.attnum))
       FROM pg_index AS i JOIN pg_class AS c ON c.oid = i.indrelid
       JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = ANY (i.indkey)
       WHERE i.indisprimary AND c.relnamespace = 'public'::regnamespace AND c.relname NOT IN (${ONLY_POSTGRES_TABLES})
       GROUP BY 1 ORDER BY c.relname COLLATE "C"`,
    )
    const keys = inSqlite.map((row) => {
      const [table, key] = row as [string, string]
      return [table, OTHER_KEYS[table] ?? key]
    })
    assert.deepEqual(inPostgres, keys)
  })

  it('compare all texts byte by byte', async () => {
    const others = await listInPostgres(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = 'public' AND data_type = 'text' AND collation_name IS DISTINCT FROM 'C'`,
    )
    assert.deepEqual(others, [])
  })

  it('have the same foreign keys', async () => {
    const inSqlite = listInSqlite(
      `SELECT m.name, f."from", f."table", f.on_delete
       FROM sqlite_schema AS m JOIN pragma_foreign_key_list(m.name) AS f
       WHERE m.type = 'table' ORDER BY 1, 2`,
    )
    const inPostgres = await listInPostgres(
      `SELECT c.conrelid::regclass::text, a.attname, c.confrelid::regclass::text,
         CASE c.confdeltype WHEN 'c' THEN 'CASCADE' ELSE 'NO ACTION' END
       FROM pg_constraint AS c
       JOIN pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
       WHERE c.contype = 'f' ORDER BY c.conrelid::regclass::text COLLATE "C", 2`,
    )
    assert.deepEqual(inPostgres, inSqlite)
  })

  it('have the same triggers, but for those that only one of them needs', async () => {
    const inSqlite = listInSqlite(
      `SELECT name, tbl_name FROM sqlite_schema
       WHERE type = 'trigger' AND name <> 'audit_log_no_replace' ORDER BY 1`,
    )
    const inPostgres = await listInPostgres(
      `SELECT tgname, tgrelid::regclass::text FROM pg_trigger
       WHERE NOT tgisinternal AND tgname <> 'audit_log_number'
         AND tgname NOT IN ('sites_added', 'sites_changed', 'sites_removed') ORDER BY tgname COLLATE "C"`,
    )
    assert.deepEqual(inPostgres, inSqlite)
  })

  it('have the same indexes, but for the searched text, which may be too long for PostgreSQL', async () => {
    const inSqlite = listInSqlite(
      `SELECT name, tbl_name FROM sqlite_schema
       WHERE type = 'index' AND sql IS NOT NULL AND name <> 'audit_log_by_text' ORDER BY 1`,
    )
    const inPostgres = await listInPostgres(
      `SELECT indexname, tablename FROM pg_indexes
       WHERE schemaname = 'public' AND NOT (indexname LIKE '%\\_pkey' OR indexname LIKE '%\\_key')
       ORDER BY indexname COLLATE "C"`,
    )
    assert.deepEqual(inPostgres, inSqlite)
  })
})
