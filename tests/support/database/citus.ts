import assert from 'node:assert/strict'
import { globSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { distribute } from '../../../lib/postgres/citus/distribute.ts'
import { codeOf } from '../../../lib/reason.ts'
import {
  createDatabase,
  openTestPool,
  type PostgresServer,
  query,
  startPostgres,
} from './postgres-server.ts'

/** Where the build of Citus puts it for Debian's PostgreSQL. */
const LIBRARY = '/usr/lib/postgresql/*/lib/citus.so'

/** The reason to skip a test that needs Citus; false: it is installed. */
export const LACKS_CITUS = globSync(LIBRARY).length === 0 && 'Citus is not installed'

const WORKERS = 2
/** SQLSTATE object_in_use. */
const IN_USE = '55006'
const SETTINGS = {
  shared_preload_libraries: 'citus',
  max_worker_processes: '32',
  // Few shards, so that databases are made quickly.
  'citus.shard_count': '8',
  'citus.node_conninfo': 'sslmode=disable',
}

/** A coordinator of Citus and its workers. */
export interface CitusCluster extends AsyncDisposable {
  readonly coordinator: PostgresServer
  readonly workers: readonly PostgresServer[]
  /** The URLs of all servers, first that of the coordinator. */
  readonly urls: readonly string[]
}

export async function startCitus(
  settings: Readonly<Record<string, string>> = {},
): Promise<CitusCluster> {
  await using opening = new AsyncDisposableStack()
  const servers: PostgresServer[] = []
  for (let left = WORKERS + 1; left > 0; left--) {
    servers.push(opening.use(await startPostgres({ ...SETTINGS, ...settings })))
  }
  const [coordinator = assert.fail(), ...workers] = servers
  const opened = opening.move()
  const urls = servers.map(({ url }) => url)
  return { coordinator, workers, urls, [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

/** Creates a database on all servers, empty or copied from `template`. Returns its URL on the coordinator. */
export async function createOnAll(
  [coordinator = assert.fail(), ...workers]: readonly string[],
  template = 'template1',
): Promise<string> {
  const url = await createDatabase(coordinator, template)
  for (const worker of workers) {
    await query(worker, `CREATE DATABASE ${nameOf(url)} TEMPLATE ${template}`)
  }
  return url
}

/** Removes a database from all servers, with the process of Citus that cares for it on each of them. */
export async function dropOnAll(servers: readonly string[], url: string): Promise<void> {
  for (const server of servers) await dropOn(server, nameOf(url))
}

/** That process may connect again while it is being ended: then, the next attempt ends it. */
async function dropOn(server: string, name: string, attempts = 20): Promise<void> {
  try {
    await query(server, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  } catch (error) {
    if (codeOf(error) !== IN_USE || attempts === 1) throw error
    await sleep(50)
    await dropOn(server, name, attempts - 1)
  }
}

/** Creates an empty database on the coordinator that knows its workers. Returns its URL. */
export async function createCitusDatabase(servers: readonly string[]): Promise<string> {
  const url = await createOnAll(servers)
  const [, ...workers] = servers
  for (const server of servers) await query(within(server, url), 'CREATE EXTENSION citus')
  await query(url, `SELECT citus_set_coordinator_host('127.0.0.1', ${portOf(url)})`)
  for (const worker of workers) {
    await query(url, `SELECT citus_add_node('127.0.0.1', ${portOf(worker)})`)
  }
  return url
}

/** Makes a database with all tables, distributed, from which others can be copied. Returns its name. */
export async function makeCitusTemplate(servers: readonly string[]): Promise<string> {
  const url = await createCitusDatabase(servers)
  {
    await using pool = openTestPool(url)
    await distribute({ pool, onTable: () => {} })
  }
  const name = nameOf(url)
  for (const server of servers) {
    await query(server, `ALTER DATABASE ${name} ALLOW_CONNECTIONS false`)
    // That of Citus, which cares for the database.
    await query(
      server,
      `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '${name}'`,
    )
  }
  return name
}

/** The URL on the server of a database that has the name of the one at `url`. */
export function within(server: string, url: string): string {
  return Object.assign(new URL(server), { pathname: new URL(url).pathname }).href
}

function nameOf(url: string): string {
  return new URL(url).pathname.slice(1)
}

function portOf(url: string): string {
  return new URL(url).port
}
