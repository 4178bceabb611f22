import type { Client } from '../../../lib/db/connection.ts'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { createRandom, pick, type Random } from '../../../scripts/parts/random.ts'

interface Column {
  readonly name: string
  readonly type: 'TEXT' | 'INTEGER' | 'REAL' | 'BLOB'
  readonly notnull: number
  readonly pk: number
}

/** What the checks of the tables permit. */
const PERMITTED: Readonly<Record<string, readonly unknown[]>> = {
  'users.email_verified': [0, 1],
  'users.role': ['user', 'operator'],
  'api_keys.type': ['secret', 'publishable'],
  'usage_by_period.warned': [0, 50, 80, 100],
  'subscriptions.overages': [0, 1],
  'subscriptions.interval': ['month', 'year'],
  'subscriptions.carried_requests': [null],
  'subscriptions.carried_until': [null],
  'plan_previews.interval': ['month', 'year'],
  'inquiries.state': ['waiting', 'delivered', 'dead', 'kept'],
  'cap_notices.channel': ['mail', 'webhook'],
  'cap_notices.threshold': ['near_cap', 'reach_cap', 'reach_spending_cap'],
  'cap_notices.state': ['waiting', 'delivered', 'dead', 'kept'],
  'account_mails.state': ['waiting', 'delivered', 'dead', 'kept'],
  'overage_reports.from_units': [1],
  'overage_reports.to_units': [2, 3],
  // Triggers add the next number.
  'access_changes.revision': [1, 2, 3],
  // Numbered by the database.
  'audit_log.id': [null],
  'health.id': [1],
  'billing_owner.id': [1],
  'billing_owner.mode': ['live', 'test'],
  'summed_usage.id': [1],
  'spending_caps.amount': [0, 1, 99_999_999],
  'rum_counted.last_id': [7],
}
const QUOTED = '"quoted", {braced} \\ and\nlines'
const TEXTS = ['', 'ä 😀', QUOTED, "it's", 'NULL', '\\N', 'Ω'.repeat(300)]
const NUMBERS = [0, 1, 1_767_225_600_000, Number.MAX_SAFE_INTEGER]
const REALS = [0, 0.1, 1e-7, 1.5e300, 1 / 3]

/** Adds a row for each user to all tables but the journal, with any values that the columns permit. */
export function fillTables(client: Client, users: number, seed: number): void {
  const random = createRandom(seed)
  client.pragma('foreign_keys = OFF')
  for (const table of listTables(client)) {
    const columns = client.prepare<[string], Column>(COLUMNS).all(table)
    const names = columns.map(({ name }) => name).join(', ')
    // Triggers have added some of the rows.
    const insert = client.prepare(
      `INSERT OR IGNORE INTO ${table} (${names}) VALUES (${columns.map(() => '?').join(', ')})`,
    )
    for (let user = 0; user < users; user++) {
      insert.run(...columns.map((column) => makeValue(random, { table, column, user })))
    }
  }
  client.pragma('foreign_keys = ON')
}

const COLUMNS = 'SELECT name, type, "notnull", pk FROM pragma_table_xinfo(?) WHERE hidden = 0'

/** Users first, because the triggers of other tables look for them. */
function listTables(client: Client): string[] {
  const tables = client
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'
         AND name <> 'rum_journal' ORDER BY name <> 'users', name`,
    )
    .pluck()
    .all()
  return tables
}

/** The columns whose values others refer to, and those that refer to them. */
const REFERENCES: Readonly<Record<string, string>> = {
  'users.id': 'user',
  user_id: 'user',
  'sites.id': 'site',
  site_id: 'site',
}

interface Place {
  readonly table: string
  readonly column: Column
  readonly user: number
}

function makeValue(random: Random, { table, column, user }: Place): unknown {
  const permitted = PERMITTED[`${table}.${column.name}`]
  if (permitted !== undefined) return pick(random, permitted)
  const kind = REFERENCES[column.name] ?? REFERENCES[`${table}.${column.name}`]
  if (kind !== undefined) return `${kind}-${user}`
  if (column.notnull === 0 && column.pk === 0 && random() < 0.3) return null
  switch (column.type) {
    case 'TEXT':
      // Unique, because some columns must be.
      return `${pick(random, TEXTS)}${table} ${user} ${Math.floor(random() * 1e9)}`
    case 'INTEGER':
      return column.pk > 0 ? user + 1 : pick(random, NUMBERS)
    case 'REAL':
      return pick(random, REALS)
    case 'BLOB':
      return Buffer.from(Array.from({ length: user * 7 }, () => Math.floor(random() * 256)))
  }
}

/** Rows by the name of their table, in any order but always the same one. */
export type AllRows = Readonly<Record<string, readonly string[]>>

/** These, and a column, say how far a journal is summed up. */
const OF_JOURNAL = ['rum_journal', 'rum_counted']
const OF_JOURNAL_COLUMN = 'last_id'
/** In these, the order of insertion counts. */
const NUMBERED = ['account_mails', 'api_keys', 'cap_notices', 'inquiries', 'sites', 'users']

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
