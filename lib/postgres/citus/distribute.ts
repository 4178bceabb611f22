import type { PgConnection, PgPool } from '../connection.ts'
import { lockMigrations, migratePg } from '../migrate.ts'
import { countLive, inUse } from '../nodes/nodes.ts'
import { inTransaction } from '../transaction.ts'
import { listDistributed } from './layout.ts'
import { DISTRIBUTED, type DistributedTable } from './tables.ts'

/** The oldest version that was tried. */
const OLDEST_CITUS = 13

interface DistributeOptions {
  /** Its statements must be allowed to take as long as copying the largest table. */
  readonly pool: PgPool
  /** Called once the rows of a table are on the workers; nothing is committed yet. */
  readonly onTable: (table: DistributedTable, rows: number) => void
}

/**
 * Migrates the database, and distributes the tables that are not yet distributed, with their rows, in one
 * transaction: if it is interrupted, nothing has changed. Returns how many it distributed. Throws an error
 * that says what to do if Citus, or a worker, is missing, or if a server is running.
 */
export async function distribute({ pool, onTable }: DistributeOptions): Promise<number> {
  await pool.use(checkCitus)
  await migratePg(pool)
  const count = await inTransaction(pool, async (connection) => {
    // Keeps servers from starting, since they migrate first.
    await lockMigrations(connection)
    const nodes = await countLive(connection)
    if (nodes > 0) throw inUse(nodes)
    await connection.runScript(SETTINGS)
    const done = await listDistributed(connection)
    const missing = DISTRIBUTED.filter(({ name }) => !done.has(name))
    for (const table of missing) onTable(table, await distributeTable(connection, table))
    return missing.length
  })
  await pool.use(removeCopies)
  return count
}

/** Permits triggers on distributed tables: those that need no other table work on workers as well. */
const SETTINGS = `SET LOCAL citus.enable_unsafe_triggers = on;
  SET LOCAL citus.multi_shard_modify_mode = 'sequential'`

async function checkCitus(connection: PgConnection): Promise<void> {
  const extension = await connection.query(
    `SELECT split_part(extversion, '.', 1)::int, extversion FROM pg_extension WHERE extname = 'citus'`,
  )
  const [major, version] = extension.rows[0] ?? []
  if (version === undefined) {
    throw new Error(
      'Citus is missing in this database: install it, then run CREATE EXTENSION citus',
    )
  }
  if (Number(major) < OLDEST_CITUS) {
    throw new Error(`The version of Citus is ${version}: use Citus ${OLDEST_CITUS} or newer`)
  }
  const { rows } = await connection.query(
    `SELECT groupid = 0, (SELECT count(*) FROM pg_dist_node
       WHERE noderole = 'primary' AND isactive AND shouldhaveshards AND groupid <> 0)
     FROM pg_dist_local_group`,
  )
  const [isCoordinator, workers] = rows[0] ?? []
  if (isCoordinator !== true) throw new Error('This is a worker of Citus: name the coordinator')
  if (Number(workers) === 0) {
    throw new Error('Citus has no workers: add them with SELECT citus_add_node(host, port)')
  }
}

async function distributeTable(
  connection: PgConnection,
  { name, column, colocateWith, prepare }: DistributedTable,
): Promise<number> {
  if (prepare !== undefined) await connection.runScript(prepare)
  const { rows } = await connection.query(`SELECT count(*) FROM ${name}`)
  await connection.query('SELECT create_distributed_table($1::regclass, $2, colocate_with => $3)', [
    ...[name, column, colocateWith],
  ])
  return Number(rows[0]?.[0])
}

/** Frees the space of rows that were copied to workers, since the coordinator keeps them, invisibly. */
async function removeCopies(connection: PgConnection): Promise<void> {
  for (const { name } of DISTRIBUTED) {
    await connection.query('SELECT truncate_local_data_after_distributing_table($1::regclass)', [
      name,
    ])
  }
}
