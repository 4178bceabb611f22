import type { PostgresConfig } from '../../lib/config/config.ts'
import type { Db } from '../../lib/db/open.ts'
import { checkServer, explainStart } from '../../lib/postgres/check-server.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { createPgDb } from '../../lib/postgres/engine.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { countLiving } from '../../lib/postgres/nodes.ts'
import { openPool, placeOf } from '../../lib/postgres/pool.ts'

/** A command does one thing after another. */
const CONNECTIONS = 2

/**
 * Connects to the database, and checks it. If it cannot be used, throws an error that names it, without the
 * password, and says what to do.
 */
export async function connect({ url }: Pick<PostgresConfig, 'url'>): Promise<PgPool> {
  await using opening = new AsyncDisposableStack()
  // A connection that breaks while it is not used is opened again.
  const options = { url, max: CONNECTIONS, name: 'meridian command', onError: () => {} }
  const pool = opening.use(openPool(options))
  await checkServer(pool).catch((cause: unknown) => {
    throw new Error(`Cannot use ${placeOf(url)}: ${explainStart(cause)}`, { cause })
  })
  opening.move()
  return pool
}

/** A database that is open for a command. */
export interface OpenDatabase extends AsyncDisposable {
  readonly db: Db
  /** Keeps servers from starting until it is disposed of, if that is possible. null: one is running. */
  readonly lock: () => Promise<Disposable | null>
}

/** Opens the database, and migrates it as the next start of a server would. Servers may be running. */
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
    lock: async () => ((await pool.use(countLiving)) > 0 ? null : { [Symbol.dispose]: () => {} }),
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  }
}
