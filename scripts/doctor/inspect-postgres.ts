import type { PostgresConfig } from '../../lib/config/config.ts'
import type { Db } from '../../lib/db/open.ts'
import type { NodeState, PostgresState } from '../../lib/doctor/check-postgres.ts'
import type { PgConnection } from '../../lib/postgres/connection.ts'
import { listPendingPg } from '../../lib/postgres/migrate.ts'
import { IS_LIVE } from '../../lib/postgres/nodes/nodes.ts'
import { createPgDb } from '../../lib/storage/pg-engine.ts'
import { readPgSecrets } from '../../lib/storage/pg-secrets.ts'
import { connect } from '../parts/postgres.ts'

/** Reads the state of the database. Throws if it cannot be used, or with a wrong MERIDIAN_SECRET. */
export async function inspectPostgres(config: PostgresConfig): Promise<PostgresState> {
  await using pool = await connect(config)
  const pending = await listPendingPg(pool)
  return await pool.use(async (connection) => {
    const [server = []] = await read(
      connection,
      `SELECT current_setting('server_version'), pg_database_size(current_database())`,
    )
    const found = { version: String(server[0]), bytes: Number(server[1]), pending }
    if (pending.length > 0) return { ...found, nodes: [], leftCommits: 0 }
    await readPgSecrets(connection, config.secret)
    return { ...found, ...(await inspectNodes(connection)) }
  })
}

async function inspectNodes(connection: PgConnection) {
  const nodes = await read(
    connection,
    `SELECT version, now_ms() - seen_at, (
       SELECT count(*) FROM access_changes WHERE access_changes.revision > nodes.revision
         AND nodes.revision >= 0)
     FROM nodes WHERE ${IS_LIVE} ORDER BY started_at`,
  )
  const [left = []] = await read(
    connection,
    `SELECT count(*) FROM rum_journal WHERE node NOT IN (SELECT id FROM nodes WHERE ${IS_LIVE})`,
  )
  return { nodes: nodes.map(toNode), leftCommits: Number(left[0]) }
}

function toNode([version, sinceHeartbeatMs, missedChanges]: readonly unknown[]): NodeState {
  return {
    version: String(version),
    sinceHeartbeatMs: Number(sinceHeartbeatMs),
    missedChanges: Number(missedChanges),
  }
}

/** The time of PostgreSQL in epoch milliseconds; undefined if it cannot be read, which another check reports. */
export async function findClock(config: PostgresConfig): Promise<number | undefined> {
  const sql = 'SELECT extract(epoch FROM clock_timestamp()) * 1000'
  try {
    await using pool = await connect(config)
    const rows = await pool.use((connection) => read(connection, sql))
    return Number(rows[0]?.[0])
  } catch {
    return undefined
  }
}

/** Runs `work` with the database, unless it lacks migrations. */
export async function readPostgres<Result>(
  config: PostgresConfig,
  work: (db: Db) => Promise<Result>,
): Promise<Result | undefined> {
  await using pool = await connect(config)
  if ((await listPendingPg(pool)).length > 0) return undefined
  return await work(createPgDb(pool))
}

async function read(connection: PgConnection, sql: string): Promise<unknown[][]> {
  return (await connection.query(sql)).rows
}
