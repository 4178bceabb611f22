import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { PgPool } from '../../../lib/postgres/connection.ts'
import { openPool } from '../../../lib/postgres/pool.ts'
import { findFreePort } from '../../../scripts/parts/start-process.ts'

/** Where Debian's packages put the programs of each version. */
const VERSIONS = '/usr/lib/postgresql'
const POLL_MS = 50
const LONGEST_START_MS = 30_000
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  max_connections: '200',
  unix_socket_directories: '',
}

/** A PostgreSQL server on loopback, with a new folder of data. */
export interface PostgresServer extends AsyncDisposable {
  readonly url: string
  /** Creates an empty database. Returns its URL. */
  createDatabase(): Promise<string>
  /** Ends all processes of the server at once, without a checkpoint. */
  stop(): Promise<void>
  /** Kills the server with SIGKILL; its other processes end by themselves. */
  kill(): Promise<void>
  /** Starts it, as soon as all processes of a killed one have ended. */
  start(): Promise<void>
  /** Stops and starts it. */
  crash(): Promise<void>
  /** Starts it again as a standby, which only reads. */
  becomeStandby(): Promise<void>
  /** Starts a copy that follows it. From then on, a commit waits until both have stored it. */
  addStandby(): Promise<Standby>
}

/** A server that only reads until it is promoted. */
export interface Standby extends AsyncDisposable {
  readonly url: string
  promote(): void
}

/** `settings`: more of postgresql.conf. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const { run, data, ...place } = await newPlace()
  // Another collation than C, as most servers have one.
  run('initdb', ['-D', data, '-U', 'meridian', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'])
  const { start, stop, url } = await openServer({ run, data, ...place }, settings)
  await start()
  const remove = async () => {
    await stop('immediate')
    rmSync(place.folder, { recursive: true })
  }
  return {
    url,
    createDatabase: () => createDatabase(url),
    stop: () => stop('immediate'),
    start,
    crash: async () => {
      await stop('immediate')
      await start()
    },
    becomeStandby: async () => {
      await stop('fast')
      writeFileSync(join(data, 'standby.signal'), '')
      await start()
    },
    kill: () => stop('SIGKILL'),
    addStandby: async () => {
      const standby = await startStandby(url)
      await query(url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
      await reloadSettings(url)
      return standby
    },
    [Symbol.asyncDispose]: remove,
  }
}

async function startStandby(primary: string): Promise<Standby> {
  const { run, data, ...place } = await newPlace()
  run('pg_basebackup', ['-d', primary, '-D', data, '-R', '--checkpoint=fast'])
  const { start, stop, url } = await openServer({ run, data, ...place }, {})
  await start()
  return {
    url,
    promote: () => {
      run('pg_ctl', ['promote', '-D', data])
    },
    [Symbol.asyncDispose]: async () => {
      await stop('immediate')
      rmSync(place.folder, { recursive: true })
    },
  }
}

type Place = Awaited<ReturnType<typeof newPlace>>

/** A folder for the data of a server, and PostgreSQL's programs. */
async function newPlace() {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-postgres-'))
  const user = ownUser(folder)
  const programs = join(VERSIONS, newest(readdirSync(VERSIONS)), 'bin')
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(programs, program), args, { ...user, cwd: folder, stdio: 'pipe' })
  return { folder, user, programs, run, data: join(folder, 'data'), port: await findFreePort() }
}

async function openServer(
  { folder, user, programs, run, data, port }: Place,
  settings: Readonly<Record<string, string>>,
) {
  const url = `postgres://meridian@127.0.0.1:${port}/postgres`
  let server: ChildProcess | undefined
  const startOnce = async () => {
    const all = Object.entries({ ...SETTINGS, ...settings })
    const options = all.flatMap((pair) => ['-c', pair.join('=')])
    const args = ['-D', data, '-p', String(port), ...options]
    server = spawn(join(programs, 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' })
    await waitUntilReady(url, server)
  }
  return {
    url,
    start: async () => {
      const end = performance.now() + LONGEST_START_MS
      for (;;) {
        try {
          return await startOnce()
        } catch (error) {
          // Processes of a killed server may still be ending.
          if (performance.now() > end) throw error
          await sleep(POLL_MS)
        }
      }
    },
    stop: async (how: 'fast' | 'immediate' | 'SIGKILL') => {
      if (server === undefined) return
      const ended = once(server, 'exit')
      if (how === 'SIGKILL') server.kill(how)
      else run('pg_ctl', ['stop', '-D', data, '-m', how])
      await ended
      server = undefined
    },
  }
}

/** Creates a database on the server: an empty one, or a copy of `template`. Returns its URL. */
export async function createDatabase(server: string, template = 'template1'): Promise<string> {
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await query(server, `CREATE DATABASE ${name} TEMPLATE ${template}`)
  return Object.assign(new URL(server), { pathname: `/${name}` }).href
}

/** The user who runs the server: it refuses to run as root. */
function ownUser(folder: string): { uid?: number; gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const idOf = (option: '-u' | '-g') => Number(execFileSync('id', [option, 'postgres']))
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  chownSync(folder, uid, gid)
  return { uid, gid }
}

function newest(versions: readonly string[]): string {
  return versions.toSorted((a, b) => Number(b) - Number(a))[0] ?? ''
}

async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    if (child.exitCode !== null) throw new Error(`PostgreSQL ended with ${child.exitCode}`)
    try {
      await query(url, 'SELECT 1')
      return
    } catch {
      await sleep(POLL_MS)
    }
  }
}

/** Runs one statement on a connection of its own. */
export async function query(url: string, sql: string): Promise<unknown[][]> {
  const client = await connect(url)
  try {
    const { rows } = await client.query<unknown[]>({ text: sql, rowMode: 'array' })
    return rows
  } finally {
    await client.end()
  }
}

/** Makes the server read its files of settings and passwords again. Resolves once new connections follow them. */
export async function reloadSettings(url: string): Promise<void> {
  const readLoadedAt = async () => String(await query(url, 'SELECT pg_conf_load_time()::text'))
  const before = await readLoadedAt()
  await query(url, 'SELECT pg_reload_conf()')
  while ((await readLoadedAt()) === before) await sleep(POLL_MS)
}

/** Lets other statements about the table wait, for as long as the test likes. Disposing of it lets them go on. */
export async function lockTable(url: string, table: string): Promise<AsyncDisposable> {
  // Not a connection of the service: PostgreSQL would end its transaction after some seconds.
  const client = await connect(url)
  await client.query('BEGIN')
  await client.query(`LOCK TABLE ${table} IN ACCESS EXCLUSIVE MODE`)
  return { [Symbol.asyncDispose]: () => client.end() }
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  return client
}

/** Opens a pool, whose idle connections may break. */
export function openTestPool(url: string, max = 5): PgPool {
  return openPool({ url, max, name: 'test', onError: () => {} })
}
