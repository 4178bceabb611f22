import type { PostgresConfig } from '../../lib/config/config.ts'
import { checkServer, explainStart } from '../../lib/postgres/check-server.ts'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { openPool, placeOf } from '../../lib/postgres/pool.ts'

/** A command does one thing after another. */
const CONNECTIONS = 2

/**
 * Runs `work` with connections to the database, once it is checked. `name`: of the command. If the database
 * cannot be used, throws an error that names it, without the password, and says what to do.
 */
export async function withPool<Result>(
  { url }: Pick<PostgresConfig, 'url'>,
  name: string,
  work: (pool: PgPool) => Promise<Result>,
): Promise<Result> {
  // A connection that breaks while it is not used is opened again.
  await using pool = openPool({ url, max: CONNECTIONS, name, onError: () => {} })
  await checkServer(pool).catch((cause: unknown) => {
    throw new Error(`Cannot use ${placeOf(url)}: ${explainStart(cause)}`, { cause })
  })
  return await work(pool)
}
