import type { Secrets } from '../../config/secrets.ts'
import type { Client } from '../../db/connection.ts'
import { openDb } from '../../db/open.ts'
import { commandText } from '../../parts/clone-or-package.ts'
import type { PgConnection, PgPool } from '../../postgres/connection.ts'
import { listPendingPg } from '../../postgres/migrate.ts'
import { IS_LIVE, inUse } from '../../postgres/nodes/nodes.ts'
import { inSnapshot } from '../../postgres/transaction.ts'
import { readPgSecrets } from '../pg-secrets.ts'
import { copyTable } from './copy-table.ts'
import { type MovedRows, type Row, readFromFile, readFromPostgres } from './rows.ts'
import { listTables, type MovedTable, quoted, selectAll } from './tables.ts'
import { COPY_SETTINGS, differenceError, type MoveWatcher } from './watcher.ts'

const JOURNAL_TABLE: MovedTable = {
  name: 'rum_journal',
  columns: {
    site_id: 'text',
    id: 'bigint',
    received_at: 'bigint',
    country: 'text',
    beacon: 'text',
  },
  key: ['site_id', 'id'],
  identity: undefined,
}

/**
 * Reads the journals of all nodes as rows for SQLite's journal: the beacons that the other tables lack,
 * numbered by time. A row in PostgreSQL has the beacons of one commit; `last_id` is the number of the last.
 */
const JOURNAL_SOURCE = `
  SELECT site_id, row_number() OVER (ORDER BY received_at, node, number) AS id,
    received_at, country, beacon
  FROM (
    SELECT node, entry ->> 0 AS site_id, (entry ->> 1)::bigint AS received_at, entry ->> 2 AS country,
      (entry -> 3)::text AS beacon, last_id - json_array_length(entries::json) + at AS number
    FROM rum_journal CROSS JOIN LATERAL
      json_array_elements(entries::json) WITH ORDINALITY AS packed (entry, at)
  ) AS journal
  WHERE NOT EXISTS (
    SELECT FROM rum_counted AS counted
    WHERE counted.site_id = journal.site_id COLLATE "C" AND counted.node = journal.node
      AND counted.last_id >= number
  )
  ORDER BY site_id COLLATE "C", id`

/** What PostgreSQL's journals become in a database file. */
const JOURNAL = { table: JOURNAL_TABLE, source: JOURNAL_SOURCE }

interface ExportOptions extends MoveWatcher {
  readonly pool: PgPool
  /** The database file to write; it must not exist. */
  readonly file: string
  /** Whether nodes may be running: the file then has what they had written when the export began. */
  readonly nodes: 'may run' | 'must have stopped'
  /** Decrypts the secrets. */
  readonly password: string
}

/**
 * Copies all rows of PostgreSQL to a new database file. Changes nothing in PostgreSQL. Beacons that are not
 * summed up yet go into the journal of the file; the server that starts on the file sums them up. An
 * interrupted export leaves an incomplete file. Returns the secrets.
 */
export async function exportDatabase(options: ExportOptions): Promise<Secrets> {
  const { pool, file, nodes, password, ...watcher } = options
  const pending = await listPendingPg(pool)
  if (pending.length > 0) throw new Error(`The database lacks ${pending.join(', ')}: ${MIGRATE}`)
  const { $client: client } = openDb(file)
  try {
    const known = await pool.use(readNodes)
    const refuseNodes = async (connection: PgConnection) => {
      if (nodes === 'must have stopped') await refuseNodesBut(connection, known)
    }
    const secrets = await inSnapshot(pool, async (connection) => {
      await connection.runScript(COPY_SETTINGS)
      await refuseNodes(connection)
      const found = await readPgSecrets(connection, password)
      if (found === undefined) throw new Error('The database is new: no server has used it')
      const tables = await listTables(client, connection)
      const sources = [...tables.map((table) => ({ table, source: selectAll(table) })), JOURNAL]
      const moved = await fill(client, async () => {
        const all: MovedRows[] = []
        for (const { table, source } of sources) {
          const rows = readFromPostgres(connection, source, `all_${table.name}`)
          const readCopy = () => readFromFile(client, selectAll(table))
          const copying = { table, rows, insert: insertInto(client, table), readCopy }
          all.push(await copyTable({ ...copying, ...watcher }))
        }
        return all
      })
      if (!moved.every(({ ok }) => ok)) throw differenceError(moved, 'the file was removed')
      return found
    })
    // A node may have started meanwhile, and written what the file lacks.
    await pool.use(refuseNodes)
    return secrets
  } finally {
    client.close()
  }
}

const MIGRATE = `run ${commandText('migrate')}, or the release that made it`

/** The nodes, each with its last heartbeat. */
type KnownNodes = readonly (readonly [id: string, seenAt: number])[]

async function readNodes(connection: PgConnection): Promise<KnownNodes> {
  const { rows } = await connection.query('SELECT id, seen_at FROM nodes')
  return rows.map(([id, seenAt]) => [String(id), Number(seenAt)])
}

/** Throws if a node is live, or has joined or sent a heartbeat since `known` was read. */
async function refuseNodesBut(connection: PgConnection, known: KnownNodes): Promise<void> {
  const { rows } = await connection.query(
    `SELECT count(*) FROM nodes WHERE (${IS_LIVE})
     OR (id, seen_at) NOT IN (SELECT * FROM unnest($1::text[], $2::bigint[]))`,
    [known.map(([id]) => id), known.map(([, seenAt]) => seenAt)],
  )
  const count = Number(rows[0]?.[0])
  if (count > 0) throw inUse(count)
}

/**
 * Lets `work` fill the tables without waiting for the disk: an incomplete file is worth nothing. Removes the
 * triggers meanwhile, because rows are copied as they are.
 */
async function fill<Result>(client: Client, work: () => Promise<Result>): Promise<Result> {
  client.pragma('journal_mode = OFF')
  client.pragma('synchronous = OFF')
  client.pragma('foreign_keys = OFF')
  const triggers = client
    .prepare<[], { name: string; sql: string }>(
      `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY rowid`,
    )
    .all()
  for (const { name } of triggers) client.exec(`DROP TRIGGER "${name}"`)
  const result = await work()
  for (const { sql } of triggers) client.exec(sql)
  return result
}

function insertInto(client: Client, { name, columns }: MovedTable) {
  const names = Object.keys(columns)
  const insert = client.prepare(
    `INSERT INTO "${name}" (${quoted(names)}) VALUES (${names.map(() => '?').join(', ')})`,
  )
  return client.transaction((page: readonly Row[]) => {
    for (const row of page) insert.run(...row)
  })
}
