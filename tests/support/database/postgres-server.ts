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
}

/** `settings`: more of postgresql.conf. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'meridian-postgres-'))
  const user = ownUser(folder)
  const programs = join(VERSIONS, newest(readdirSync(VERSIONS)), 'bin')
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(programs, program), args, { ...user, cwd: folder, stdio: 'pipe' })
  const data = join(folder, 'data')
  // Another collation than C, as most servers have one.
  run('initdb', ['-D', data, '-U', 'meridian', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8'])
  const port = await findFreePort()
  const urlOf = (database: string) => `postgres://meridian@127.0.0.1:${port}/${database}`
  const start = async () => {
    const all = Object.entries({ ...SETTINGS, ...settings })
    const args = ['-D', data, '-p', String(port), ...all.flatMap((pair) => ['-c', pair.join('=')])]
    const child = spawn(join(programs, 'postgres'), args, { ...user, cwd: folder, stdio: 'ignore' })
    await waitUntilReady(urlOf('postgres'), child)
    return child
  }
  let server: ChildProcess | undefined = await start()
  const stop = async (mode: 'fast' | 'immediate') => {
    if (server === undefined) return
    const ended = once(server, 'exit')
    run('pg_ctl', ['stop', '-D', data, '-m', mode])
    await ended
    server = undefined
  }
  const startAgain = async () => {
    const end = performance.now() + LONGEST_START_MS
    for (;;) {
      try {
        server = await start()
        return
      } catch (error) {
        if (performance.now() > end) throw error
        await sleep(POLL_MS)
      }
    }
  }
  return {
    url: urlOf('postgres'),
    createDatabase: () => createDatabase(urlOf('postgres')),
    stop: () => stop('immediate'),
    kill: async () => {
      if (server === undefined) return
      const ended = once(server, 'exit')
      server.kill('SIGKILL')
      await ended
      server = undefined
    },
    start: startAgain,
    crash: async () => {
      await stop('immediate')
      await startAgain()
    },
    becomeStandby: async () => {
      await stop('fast')
      writeFileSync(join(data, 'standby.signal'), '')
      await startAgain()
    },
    [Symbol.asyncDispose]: async () => {
      await stop('immediate')
      rmSync(folder, { recursive: true })
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
export async function query(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {})
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

/** Opens a pool, whose idle connections may break. */
export function openTestPool(url: string, max = 5): PgPool {
  return openPool({ url, max, name: 'test', onError: () => {} })
}
