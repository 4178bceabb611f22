import { readdirSync, readFileSync } from 'node:fs'
import { splitStatements } from './citus/statements.ts'
import type { PgConnection, PgPool } from './connection.ts'
import { inTransaction } from './transaction.ts'

const MIGRATIONS = new URL('./migrations/', import.meta.url)
const NAME = /^(\d{4})-.*\.sql$/

/**
 * Applies the SQL files that the database lacks, in order of their numbers, in one transaction under a lock:
 * of several starting nodes, one migrates. The first file creates what SQLite's files create up to the same
 * number. Returns the names.
 */
export function migratePg(pool: PgPool): Promise<string[]> {
  return inTransaction(pool, async (connection) => {
    await connection.query(`SELECT pg_advisory_xact_lock(hashtext('meridian migrations'))`)
    return applyPending(connection)
  })
}

async function applyPending(connection: PgConnection): Promise<string[]> {
  const pending = await findPending(connection)
  for (const { name } of pending) {
    const sql = readFileSync(new URL(name, MIGRATIONS), 'utf8')
    for (const statement of splitStatements(sql)) await connection.runScript(statement)
  }
  const last = pending.at(-1)
  if (last !== undefined) {
    await connection.query('CREATE TABLE IF NOT EXISTS schema_version (number BIGINT NOT NULL)')
    await connection.query('DELETE FROM schema_version')
    await connection.query('INSERT INTO schema_version (number) VALUES ($1)', [last.number])
  }
  return pending.map(({ name }) => name)
}

/** Names of the SQL files that the database lacks. Throws if a newer release wrote it. */
export async function listPendingPg(pool: PgPool): Promise<string[]> {
  return (await pool.use(findPending)).map(({ name }) => name)
}

async function findPending(connection: PgConnection) {
  const applied = await readVersion(connection)
  const all = listMigrations()
  const newest = all.at(-1)?.number ?? 0
  if (applied <= newest) return all.filter(({ number }) => number > applied)
  throw new Error(
    `its schema version is ${applied}, this release knows ${newest}; use a newer release`,
  )
}

/** The number of the newest file that was applied; 0: none was. */
async function readVersion(connection: PgConnection): Promise<number> {
  const { rows } = await connection.query(`SELECT to_regclass('schema_version') IS NOT NULL`)
  if (rows[0]?.[0] !== true) return 0
  const found = await connection.query('SELECT coalesce(max(number), 0) FROM schema_version')
  return Number(found.rows[0]?.[0])
}

function listMigrations() {
  return readdirSync(MIGRATIONS)
    .toSorted()
    .flatMap((name) => {
      const number = NAME.exec(name)?.[1]
      return number === undefined ? [] : [{ name, number: Number(number) }]
    })
}
