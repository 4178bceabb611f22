import { readdirSync, readFileSync } from 'node:fs'
import { HOUR_MS } from '../parts/durations.ts'
import type { PgConnection, PgPool } from './connection.ts'
import { isConflict } from './faults.ts'
import { inTransaction, WRITE_LOCK } from './transaction.ts'

const MIGRATIONS = new URL('./migrations/', import.meta.url)
const NAME = /^(\d{4})-.*\.sql$/
/** A line of a migration: releases that have the migration of this number still work afterwards. */
const USABLE_FROM = /^-- Usable from (\d{4})\b/m
/** Long, since tables may be large, and since other starting nodes wait for the one that migrates. */
const LONGEST_MS = HOUR_MS
const ATTEMPTS = 10

interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
  /** The number of the oldest migration whose release can use the tables afterwards. */
  readonly usableFrom: number
}

interface Schema {
  /** The number of the newest file that was applied; 0: none was. */
  readonly number: number
  /** A release can use the tables if it knows the file with this number. */
  readonly usableFrom: number
}

/**
 * Applies the SQL files that the database lacks, in order of their numbers, in one transaction under a lock:
 * of several starting nodes, one migrates. The first file creates what SQLite's files create up to the same
 * number. Returns the names. `folder`: where the files are.
 */
export async function migratePg(pool: PgPool, folder: URL = MIGRATIONS): Promise<string[]> {
  const work = async (connection: PgConnection) => {
    await connection.query(`SET LOCAL statement_timeout = ${LONGEST_MS}`)
    await lockMigrations(connection)
    return applyPending(connection, folder)
  }
  for (let left = ATTEMPTS; ; left--) {
    try {
      return await inTransaction(pool, work, LONGEST_MS)
    } catch (error) {
      // Running nodes may lock tables in another order.
      if (left === 1 || !isConflict(error)) throw error
    }
  }
}

/** Waits until no other process changes the schema. The lock ends with the transaction. */
export async function lockMigrations(connection: PgConnection): Promise<void> {
  await connection.query(`SELECT pg_advisory_xact_lock(hashtext('meridian migrations'))`)
}

async function applyPending(connection: PgConnection, folder: URL): Promise<string[]> {
  const pending = await findPending(connection, folder)
  if (pending.length > 0) await connection.query(WRITE_LOCK)
  for (const { sql } of pending) await connection.runScript(sql)
  const last = pending.at(-1)
  if (last !== undefined) {
    const usableFrom = Math.max(...pending.map((migration) => migration.usableFrom))
    await connection.query('CREATE TABLE IF NOT EXISTS schema_version (number BIGINT NOT NULL)')
    await connection.query('ALTER TABLE schema_version ADD COLUMN IF NOT EXISTS usable_from BIGINT')
    await connection.query('DELETE FROM schema_version')
    const sql = 'INSERT INTO schema_version (number, usable_from) VALUES ($1, $2)'
    await connection.query(sql, [last.number, usableFrom])
  }
  return pending.map(({ name }) => name)
}

/**
 * Returns the names of the SQL files that the database lacks. Throws if a release that is too new used it.
 */
export async function listPendingPg(pool: PgPool): Promise<string[]> {
  const pending = await pool.use((connection) => findPending(connection, MIGRATIONS))
  return pending.map(({ name }) => name)
}

/**
 * Finds the migrations that the database lacks. A newer release may have applied more, while servers of this
 * one still run or start again. Throws unless the newer tables are usable from a migration that this one
 * knows.
 */
async function findPending(connection: PgConnection, folder: URL): Promise<Migration[]> {
  const { number: applied, usableFrom } = await readSchema(connection)
  const all = listMigrations(folder)
  const newest = all.at(-1)?.number ?? 0
  if (applied <= newest || usableFrom <= newest) {
    return all.filter(({ number }) => number > applied)
  }
  throw new Error(
    `its schema version is ${applied}, this release knows ${newest}; use a newer release`,
  )
}

async function readSchema(connection: PgConnection): Promise<Schema> {
  const { rows } = await connection.query(`SELECT to_regclass('schema_version') IS NOT NULL`)
  if (rows[0]?.[0] !== true) return { number: 0, usableFrom: 0 }
  const found = await connection.query(
    `SELECT number, coalesce((to_jsonb(schema_version) ->> 'usable_from')::bigint, number)
     FROM schema_version ORDER BY number DESC LIMIT 1`,
  )
  const [number = 0, usableFrom = 0] = found.rows[0] ?? []
  return { number: Number(number), usableFrom: Number(usableFrom) }
}

function listMigrations(folder: URL): Migration[] {
  return readdirSync(folder)
    .toSorted()
    .flatMap((name) => {
      const found = NAME.exec(name)?.[1]
      if (found === undefined) return []
      const sql = readFileSync(new URL(name, folder), 'utf8')
      const number = Number(found)
      return [{ number, name, sql, usableFrom: Number(USABLE_FROM.exec(sql)?.[1] ?? number) }]
    })
}
