import assert from 'node:assert/strict'
import { after, before, it, mock } from 'node:test'
import Sqlite from 'better-sqlite3'
import pg from 'pg'
import { exportAccount } from '../../lib/accounts/export/export-account.ts'
import { EXPORTED } from '../../lib/accounts/export/tables.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { translate } from '../../lib/postgres/translate.ts'
import { clientOf, ON_POSTGRES } from '../support/database/test-database.ts'
import { examplePath } from '../support/example-path.ts'
import { sharedScene } from '../support/scene/scene.ts'

/*
 * Asks the database how it would run each statement that serves an operation or a page of the dashboard. None may
 * read a whole table that grows with the users or with what they do. Pages for operators have tests of their own.
 */

/** Tables with few rows, however many users there are. */
const SMALL = [
  ...['billing_owner', 'first_account', 'nodes', 'overage_prices', 'summed_usage'],
  // Rows that wait: for a confirmation, for Stripe, or to expire.
  ...['account_endings', 'account_mails', 'spent_challenges'],
  // What SQLite calls a row without a table.
  'CONSTANT',
]
const PAGES = [
  '',
  '/keys',
  '/sites',
  '/usage',
  '/vitals',
  '/audit',
  '/billing',
  '/account',
  '/batch',
]

const statements = new Set<string>()
let connected: pg.Client | undefined

const note = (text: string) => {
  if (/^\s*(select|insert|update|delete|with)\b/i.test(text)) statements.add(text)
}

/** The methods of prepared statements of SQLite. */
const prepared = (): Sqlite.Statement => {
  const client = new Sqlite(':memory:')
  const statement = client.prepare('SELECT 1')
  client.close()
  // safe: the prototype has the methods
  return Object.getPrototypeOf(statement) as Sqlite.Statement
}

before(() => {
  const methods = prepared()
  for (const name of ['all', 'get', 'run', 'iterate'] as const) {
    const method = methods[name]
    mock.method(methods, name, function (this: Sqlite.Statement, ...values: unknown[]) {
      note(this.source)
      return Reflect.apply(method, this, values)
    })
  }
  const { query } = pg.Client.prototype
  mock.method(pg.Client.prototype, 'query', function (this: pg.Client, ...args: unknown[]) {
    connected = this
    const [first] = args
    // safe: a text, or an object that has it
    note(typeof first === 'string' ? first : (first as { text: string }).text)
    return Reflect.apply(query, this, args)
  })
})
after(() => mock.restoreAll())

const app = sharedScene()
const ada = app.user('ada')
const eve = app.user('eve')

async function sendAll(): Promise<void> {
  const key = await ada.key()
  statements.clear()
  const rows: readonly Operation[] = operations
  for (const row of rows) {
    const body = row.body?.example
    await app.send(row.method.toUpperCase(), examplePath(row), { key, body })
  }
  for (const page of PAGES) assert.equal((await eve.visit(`/app${page}`)).status, 200, page)
}

/** How SQLite would run the statement, a step per line. */
function planOfSqlite(text: string): string[] {
  const client = clientOf(app.services)
  const plan = client.prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${text}`)
  const names = Array.from(text.matchAll(/@(\w+)/g), ([, name]) => [name, null])
  const values =
    names.length > 0 ? [Object.fromEntries(names)] : Array.from(text.matchAll(/\?/g), () => null)
  return plan.all(...values).map(({ detail }) => detail)
}

async function planOfPostgres(client: pg.Client, text: string): Promise<string[]> {
  const count = Math.max(0, ...Array.from(text.matchAll(/\$(\d+)/g), ([, n]) => Number(n)))
  const values = count === 0 ? '' : `(${Array(count).fill('NULL').join(', ')})`
  await client.query(`PREPARE asked AS ${text}`)
  const { rows } = await client.query<[string]>({
    text: `EXPLAIN EXECUTE asked${values}`,
    rowMode: 'array',
  })
  await client.query('DEALLOCATE asked')
  return rows.map(([line]) => line)
}

/** Opens a connection besides those of the service, on which PostgreSQL reads whole tables, and sorts, only if it must. */
async function openExplaining(): Promise<pg.Client> {
  const { host, port, database, user } = connected ?? assert.fail('nothing was asked')
  const client = new pg.Client({ host, port, ...(database && { database }), ...(user && { user }) })
  await client.connect()
  await client.query('SET enable_seqscan = off')
  await client.query('SET enable_sort = off')
  await client.query("SET plan_cache_mode = 'force_generic_plan'")
  return client
}

/** The plan of each statement, by its text. */
async function explain(texts: Iterable<string>): Promise<Map<string, string[]>> {
  const client = ON_POSTGRES ? await openExplaining() : undefined
  const plans = new Map<string, string[]>()
  for (const text of texts)
    plans.set(text, client ? await planOfPostgres(client, text) : planOfSqlite(text))
  await client?.end()
  return plans
}

/** SQLite reads the table as a whole, by itself or by an index; PostgreSQL has no index to find the rows. */
const SCAN = ON_POSTGRES ? /Seq Scan on (\w+)/ : /^SCAN (\w+)/

it('no statement that serves a request reads a whole table that grows', async () => {
  await sendAll()
  const asked = [...statements]
  assert.ok(asked.length > 40, `${asked.length} statements`)
  const found = new Set<string>()
  for (const [text, plan] of await explain(asked)) {
    const scans = plan.flatMap((step) => SCAN.exec(step)?.[1] ?? [])
    for (const table of scans) if (!SMALL.includes(table)) found.add(`${table}: ${text}`)
  }
  assert.deepEqual([...found], [])
})

/** A thousand rows with the columns that the statement selects. */
function fullPage(sql: string): number[][] {
  const row = Array.from(sql.slice(0, sql.indexOf(' FROM ')).split(','), () => 0)
  return Array.from({ length: 1_000 }, () => row)
}

/** Steps that read rows which are not shown, or read them again for the next page. */
const REREADS = ON_POSTGRES ? /Sort|Filter|Seq Scan/ : /^SCAN|TEMP B-TREE/

it('an export reads each page where the one before has ended, by an index', async () => {
  const asked = new Set<string>()
  const execute: typeof app.services.db.execute = async ({ sql }) => {
    asked.add(ON_POSTGRES ? translate(sql).text : sql)
    if (/ > \(/.test(sql)) return { changes: 0, rows: [] }
    return { changes: 0, rows: sql.includes('LIMIT') ? fullPage(sql) : [[0]] }
  }
  const onError = (error: unknown) => assert.fail(String(error))
  await new Response(
    await exportAccount({ execute }, { userId: '0', now: 0, lastUses: new Map(), onError }),
  ).arrayBuffer()
  assert.ok(asked.size > 2 * EXPORTED.length, `${asked.size} statements`)
  const plans = [...(await explain(asked))]
  const rereading = plans.filter(([, plan]) => plan.some((step) => REREADS.test(step)))
  assert.deepEqual(rereading, [])
})
