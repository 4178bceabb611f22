import { setTimeout as sleep } from 'node:timers/promises'
import type { PostgresConfig } from '../../lib/config/config.ts'
import type { Secrets } from '../../lib/config/secrets.ts'
import type { Db } from '../../lib/db/open.ts'
import { SECOND_MS } from '../../lib/parts/durations.ts'
import { explainStart, requireUsableDatabase } from '../../lib/postgres/check-server.ts'
import type { PgConnection, PgPool } from '../../lib/postgres/connection.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { countLive, IS_LIVE } from '../../lib/postgres/nodes/nodes.ts'
import { nameDatabase, openPool } from '../../lib/postgres/pool.ts'
import { createPgDb } from '../../lib/storage/pg-engine.ts'
import { openPgSecrets } from '../../lib/storage/pg-secrets.ts'

/** A few are enough, because a command does one thing after another. */
const CONNECTIONS = 2
const POLL_MS = 10

/**
 * Connects to the database, and checks it. If it cannot be used, throws an error that names it, without the
 * password, and says what to do.
 */
export async function connect({ url }: Pick<PostgresConfig, 'url'>): Promise<PgPool> {
  await using opening = new AsyncDisposableStack()
  // A connection that breaks while it is not used is opened again.
  const options = { url, max: CONNECTIONS, name: 'meridian command', onError: () => {} }
  const pool = opening.use(openPool(options))
  await requireUsableDatabase(pool).catch((cause: unknown) => {
    throw new Error(`Cannot use ${nameDatabase(url)}: ${explainStart(cause)}`, { cause })
  })
  opening.move()
  return pool
}

/** A database that is open for a command. */
export interface OpenDatabase extends AsyncDisposable {
  readonly db: Db
  /** Keeps servers from starting until it is disposed of, if that is possible. null: one is running. */
  readonly lock: () => Promise<Disposable | null>
  /** The secrets of the servers. Makes them if none has been started yet. */
  readonly secrets: () => Promise<Secrets>
}

/**
 * Opens the database, and migrates it as a starting server would. Servers may be running: disposing of it waits
 * until they have applied the changes of keys.
 */
export async function openPgDatabase(config: PostgresConfig): Promise<OpenDatabase> {
  const pool = await connect(config)
  try {
    await migratePg(pool)
  } catch (error) {
    await pool[Symbol.asyncDispose]()
    throw error
  }
  return {
    db: createPgDb(pool),
    lock: async () => ((await pool.use(countLive)) > 0 ? null : { [Symbol.dispose]: () => {} }),
    secrets: () => openPgSecrets(pool, config.secret),
    [Symbol.asyncDispose]: async () => {
      await waitForServers(pool).catch(() => {})
      await pool[Symbol.asyncDispose]()
    },
  }
}

/** Waits until all servers have applied the changes of keys, as they do within milliseconds; for at most a second. */
async function waitForServers(pool: PgPool): Promise<void> {
  const end = performance.now() + SECOND_MS
  while (await pool.use(isOneBehind)) {
    if (performance.now() > end) return
    await sleep(POLL_MS)
  }
}

async function isOneBehind(connection: PgConnection): Promise<boolean> {
  const { rows } = await connection.query(
    `SELECT 1 FROM nodes WHERE ${IS_LIVE} AND revision >= 0
       AND revision < (SELECT max(revision) FROM access_changes) LIMIT 1`,
  )
  return rows.length > 0
}
