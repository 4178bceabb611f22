import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import Sqlite from 'better-sqlite3'
import * as billingTables from '../../lib/db/billing-tables.ts'
import * as contactTables from '../../lib/db/contact-tables.ts'
import { getTableConfig, type SQLiteColumn } from '../../lib/db/drizzle.ts'
import { lockDataDir } from '../../lib/db/lock.ts'
import { checkWrite, openDb } from '../../lib/db/open.ts'
import * as siteTables from '../../lib/db/site-tables.ts'
import * as mainTables from '../../lib/db/tables.ts'
import * as usageTables from '../../lib/usage/tables.ts'
import { LOADER } from '../support/runtime.ts'
import { tempFolder } from '../support/temp-folder.ts'

const folder = tempFolder()
const fileOf = (name: string) => join(folder, name)

const NAMES = readdirSync(new URL('../../lib/db/migrations/', import.meta.url)).toSorted()
const MIGRATIONS = NAMES.length

const tables = { ...mainTables, ...billingTables, ...contactTables, ...siteTables, ...usageTables }

it('the migrations are numbered from 1 without a gap', () => {
  const numbers = NAMES.map((name) => Number(name.split('-')[0]))
  assert.deepEqual(
    numbers,
    [...numbers.keys()].map((index) => index + 1),
  )
})

describe('openDb', () => {
  it('sets the pragmas for durability and speed', () => {
    const { $client } = openDb(fileOf('pragmas.db'))
    const read = (name: string) => $client.pragma(name, { simple: true })
    assert.equal(read('journal_mode'), 'wal')
    assert.equal(read('synchronous'), 2)
    assert.equal(read('foreign_keys'), 1)
    assert.equal(read('trusted_schema'), 0)
    assert.equal(read('busy_timeout'), 100)
    assert.equal(read('journal_size_limit'), 64 * 1024 * 1024)
    assert.equal(read('integrity_check'), 'ok')
  })

  it('leaves the write-ahead log to Litestream up to 64 MB', () => {
    const pagesOf = (options: { replicated?: boolean }) => {
      const { $client } = openDb(fileOf('replicated.db'), options)
      return $client.pragma('wal_autocheckpoint', { simple: true })
    }
    assert.equal(pagesOf({ replicated: true }), 16_384)
    assert.equal(pagesOf({}), 1_000)
  })

  it('creates only STRICT tables', () => {
    const { $client } = openDb(':memory:')
    const sql =
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND NOT strict"
    const loose = $client.prepare(sql).pluck().all()
    const own = loose.filter((name) => !String(name).startsWith('sqlite_'))
    assert.deepEqual(own, [])
  })

  it('keeps existing rows when it opens a file again', async () => {
    const file = fileOf('again.db')
    const first = openDb(file)
    await checkWrite(first, 7)
    first.$client.close()
    const second = openDb(file)
    assert.deepEqual(await second.select().from(mainTables.health).all(), [{ id: 1, checkedAt: 7 }])
  })

  it('refuses the schema of a newer version and does not change it', () => {
    const file = fileOf('newer.db')
    const { $client } = openDb(file)
    $client.pragma('user_version = 99')
    $client.close()
    assert.throws(() => openDb(file), {
      message: `Cannot open the database ${file}: its schema version is 99, this release knows ${MIGRATIONS}; use a newer release`,
    })
    const after = new Sqlite(file, { readonly: true })
    assert.equal(after.pragma('user_version', { simple: true }), 99)
  })

  it('refuses a file that is not a database, in one line', () => {
    const file = fileOf('text.db')
    writeFileSync(file, 'this is not a database, but a text that is long enough'.repeat(50))
    assert.throws(() => openDb(file), /^Error: Cannot open the database .*: [^\n]+$/)
  })

  it('waits for another process that is writing the new file', async () => {
    const file = fileOf('written.db')
    const script = `
      const client = new (require('better-sqlite3'))(${JSON.stringify(file)})
      client.exec('CREATE TABLE t (a); BEGIN IMMEDIATE')
      process.stdout.write('locked')
      setTimeout(() => client.exec('COMMIT; DROP TABLE t'), 300)`
    const args = ['--eval', script]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    openDb(file).$client.close()
  })

  it('migrates once if several processes start together', async () => {
    const file = fileOf('together.db')
    const script = `import { openDb } from './lib/db/open.ts'; openDb(${JSON.stringify(file)})`
    const args = [...LOADER, '--input-type=module', '--eval', script]
    const run = async () => {
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'pipe'] })
      const [errors, [code]] = await Promise.all([text(child.stderr), once(child, 'exit')])
      return { errors, code }
    }
    for (const result of await Promise.all([run(), run(), run()]))
      assert.deepEqual(result, { errors: '', code: 0 })
    assert.equal(openDb(file).$client.pragma('user_version', { simple: true }), MIGRATIONS)
  })
})

/** The previous release still uses them; this one leaves them empty. */
const OF_PREVIOUS_RELEASE = "'carried_requests', 'carried_until'"

describe('the drizzle tables', () => {
  const { $client } = openDb(':memory:')
  for (const table of Object.values(tables)) {
    const { name, columns, indexes, foreignKeys, uniqueConstraints, primaryKeys } =
      getTableConfig(table)
    const keyColumns = primaryKeys.flatMap((key) => key.columns.map((column) => column.name))

    it(`have the columns of the SQL schema: ${name}`, () => {
      const actual = $client
        .prepare(
          `SELECT name, type, "notnull", pk, dflt_value FROM pragma_table_xinfo('${name}')
           WHERE name NOT IN (${OF_PREVIOUS_RELEASE})`,
        )
        .all()
      const declared = columns.map((column) => declaredColumn(column, keyColumns))
      assert.deepEqual(actual, declared)
    })

    it(`have the indexes of the SQL schema: ${name}`, () => {
      const made = "SELECT name FROM pragma_index_list(?) WHERE origin = 'c' ORDER BY name"
      const actual = $client.prepare(made).pluck().all(name)
      assert.deepEqual(actual, indexes.map(({ config }) => config.name).toSorted())
      const unique = "SELECT count(*) FROM pragma_index_list(?) WHERE origin = 'u'"
      const uniqueColumns = columns.filter(({ isUnique }) => isUnique)
      const declared = uniqueColumns.length + uniqueConstraints.length
      assert.equal($client.prepare(unique).pluck().get(name), declared)
      const foreign = $client.prepare('SELECT count(*) FROM pragma_foreign_key_list(?)')
      assert.equal(foreign.pluck().get(name), foreignKeys.length)
    })
  }

  // tests/rum/store/store.test.ts checks the tables of telemetry.
  it('cover all tables of the SQL schema except those of telemetry and of the previous release', () => {
    const sql = `SELECT name FROM sqlite_schema
      WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'rum_%'`
    const names = $client.prepare(sql).pluck().all()
    const declared = Object.values(tables).map((table) => getTableConfig(table).name)
    assert.deepEqual(names.toSorted(), [...declared, 'duplicate_subscriptions'].toSorted())
  })
})

/** A column as SQLite reports it. A primary key of a strict table holds no null. */
function declaredColumn(column: SQLiteColumn, keyColumns: readonly string[]) {
  const type = column.getSQLType().toUpperCase()
  const isRowId = column.primary && type === 'INTEGER'
  return {
    name: column.name,
    type,
    notnull: column.notNull && !isRowId ? 1 : 0,
    pk: column.primary ? 1 : keyColumns.indexOf(column.name) + 1,
    dflt_value: column.default === undefined ? null : toSql(column.default),
  }
}

function toSql(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(Number(value))
}

describe('the table audit_log', () => {
  const { $client } = openDb(':memory:')
  $client.exec("INSERT INTO audit_log (app, actor_id, action, created_at) VALUES ('cli','a','b',1)")

  const changes = [
    ["UPDATE audit_log SET action = 'x'", /cannot be changed/],
    ['DELETE FROM audit_log', /cannot be deleted/],
    ["UPDATE OR REPLACE audit_log SET action = 'x'", /cannot be changed/],
    [
      "INSERT OR REPLACE INTO audit_log (id, app, actor_id, action, created_at) VALUES (1,'api','x','x',9)",
      /cannot be changed/,
    ],
  ] as const
  for (const [sql, message] of changes) {
    it(`refuses ${sql.slice(0, 40)}`, () => {
      assert.throws(() => $client.exec(sql), message)
      const rows = $client.prepare('SELECT app, actor_id, action FROM audit_log').all()
      assert.deepEqual(rows, [{ app: 'cli', actor_id: 'a', action: 'b' }])
    })
  }
})

const IN_USE = {
  message: `Cannot use the data folder ${folder}: a server is using it; stop the server first`,
}

describe('the lock of the data folder', () => {
  it('is held by one holder at a time', () => {
    const first = lockDataDir(folder)
    assert.throws(() => lockDataDir(folder), IN_USE)
    first[Symbol.dispose]()
    lockDataDir(folder)[Symbol.dispose]()
  })

  it('keeps other processes out and ends when its process is killed', async () => {
    const script = `import { lockDataDir } from './lib/db/lock.ts'
      globalThis.lock = lockDataDir(${JSON.stringify(folder)}); console.log('locked'); setInterval(() => {}, 1000)`
    const args = [...LOADER, '--input-type=module', '--eval', script]
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    assert.throws(() => lockDataDir(folder), IN_USE)
    child.kill('SIGKILL')
    await once(child, 'exit')
    lockDataDir(folder)[Symbol.dispose]()
  })

  it('cannot be taken without a folder', () => {
    const refusal = /Cannot write into the data folder .*: .*directory does not exist/
    assert.throws(() => lockDataDir(`${folder}/missing`), refusal)
  })
})
