import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { query } from '../support/database/postgres-server.ts'

/*
 * PostgreSQL under Patroni with etcd, three of each, by the files of deploy/patroni. Each has an address of its own on
 * loopback, with the usual ports.
 */

const MEMBERS = 3
const POLL_MS = 100
const LONGEST_MS = 60_000
const DEPLOY = new URL('../../deploy/patroni/', import.meta.url)
const VERSION =
  readdirSync('/usr/lib/postgresql').toSorted((a, b) => Number(b) - Number(a))[0] ?? ''

/** A process of one of the servers, which can be killed and started again. */
export interface Member {
  readonly name: string
  readonly address: string
  start(): void
  /** Ends it, and what it has started, with SIGKILL. */
  kill(): Promise<void>
}

export interface PatroniCluster extends AsyncDisposable {
  readonly etcd: readonly Member[]
  readonly databases: readonly Member[]
  /** The URL of the database, with all hosts. */
  readonly url: string
  /** Waits until one server is the primary, one its synchronous standby, and `running` run in all. */
  untilReady(running: number): Promise<{ readonly primary: Member; readonly standby: Member }>
  /** Lets the synchronous standby take over from the primary. */
  switchOver(): Promise<void>
}

/** Starts all, and creates the database. */
export async function openPatroni(): Promise<PatroniCluster> {
  await using opening = new AsyncDisposableStack()
  const folder = mkdtempSync(join(tmpdir(), 'meridian-patroni-'))
  opening.defer(() => rmSync(folder, { recursive: true, force: true }))
  const user = ownUser(folder)
  const network = `127.${randomInt(1, 255)}.${randomInt(255)}`
  const addresses = Array.from({ length: MEMBERS }, (_, at) => `${network}.${at + 1}`)
  const fill = (file: string, at: number) => fillIn(file, { at, addresses, folder })
  const run = (program: string, args: readonly string[], env: Readonly<Record<string, string>>) =>
    spawn(program, args, {
      ...user,
      cwd: folder,
      env: { ...process.env, ...env, HOME: folder },
      stdio: 'ignore',
    })
  const etcd = addresses.map((address, at) => {
    const env = toVariables(fill('etcd.conf', at))
    return openMember({ name: `etcd${at + 1}`, address, run: () => run('etcd', [], env) })
  })
  const databases = addresses.map((address, at) => {
    const name = `postgres${at + 1}`
    const file = join(folder, `${name}.yml`)
    writeFileSync(file, fill('patroni.yml', at))
    const env = { PATRONI_POSTGRESQL_PGPASS: join(folder, `${name}.pgpass`) }
    const pidFile = join(folder, name, 'postmaster.pid')
    return openMember({ name, address, run: () => run('patroni', [file], env), pidFile })
  })
  opening.defer(async () => {
    for (const member of [...databases, ...etcd]) await member.kill()
  })
  for (const member of [...etcd, ...databases]) member.start()
  const untilReady = async (running: number) => {
    const signal = AbortSignal.timeout(LONGEST_MS)
    for (;;) {
      const [primaries, standbys, live] = await Promise.all(
        ['primary', 'sync', 'health'].map((path) => findAll(databases, path)),
      )
      const [primary] = primaries ?? []
      const [standby] = standbys ?? []
      if (primary !== undefined && standby !== undefined && (live?.length ?? 0) >= running)
        return { primary, standby }
      await sleep(POLL_MS, undefined, { signal })
    }
  }
  const { primary } = await untilReady(2)
  const admin = `postgres://postgres:SUPERUSER_PASSWORD@${primary.address}/postgres`
  await query(admin, "CREATE ROLE meridian LOGIN PASSWORD 'meridian'")
  await query(admin, 'CREATE DATABASE meridian OWNER meridian')
  const opened = opening.move()
  return {
    etcd,
    databases,
    url: `postgres://meridian:meridian@${addresses.join(',')}/meridian`,
    untilReady,
    switchOver: async () => {
      const { primary, standby } = await untilReady(MEMBERS)
      const body = JSON.stringify({ leader: primary.name, candidate: standby.name })
      const answer = await fetch(`http://${primary.address}:8008/switchover`, {
        method: 'POST',
        body,
      })
      if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

/** The servers whose Patroni answers 200 to the path: https://patroni.readthedocs.io/en/latest/rest_api.html */
async function findAll(members: readonly Member[], path: string): Promise<Member[]> {
  const found = await Promise.all(
    members.map(async (member) => {
      try {
        const signal = AbortSignal.timeout(2_000)
        const { status } = await fetch(`http://${member.address}:8008/${path}`, { signal })
        return status === 200 ? [member] : []
      } catch {
        // It does not run.
        return []
      }
    }),
  )
  return found.flat()
}

interface Place {
  /** Which of the servers it is. */
  readonly at: number
  readonly addresses: readonly string[]
  readonly folder: string
}

/** Returns the file of deploy/patroni with what an operator writes in it. */
function fillIn(file: string, { at, addresses, folder }: Place): string {
  const kind = file === 'etcd.conf' ? 'etcd' : 'postgres'
  return readFileSync(new URL(file, DEPLOY), 'utf8')
    .replace(/NAME(\d)/g, 'etcd$1')
    .replace(/ETCD(\d)(?=:)/g, (_, n) => addresses[Number(n) - 1] ?? '')
    .replace(/\bNAME\b/g, `${kind}${at + 1}`)
    .replace(/\bADDRESS\b/g, addresses[at] ?? '')
    .replace(/\bNETWORK\b/g, '127.0.0.0/8')
    .replace(/\/var\/lib\/etcd\/meridian/, join(folder, `etcd${at + 1}`))
    .replace(/\/var\/lib\/postgresql\/VERSION\/meridian/, join(folder, `postgres${at + 1}`))
    .replace(/VERSION/g, VERSION)
}

/** The variables of a file of such lines. */
function toVariables(text: string): Record<string, string> {
  return Object.fromEntries(
    Array.from(text.matchAll(/^(\w+)=(.*)$/gm), ([, name, value]) => [name, value]),
  )
}

interface MemberOptions {
  readonly name: string
  readonly address: string
  readonly run: () => ChildProcess
  /** Holds the id of a process that it starts. */
  readonly pidFile?: string
}

function openMember({ name, address, run, pidFile }: MemberOptions): Member {
  let child: ChildProcess | undefined
  return {
    name,
    address,
    start: () => {
      child = run()
    },
    kill: async () => {
      if (child === undefined) return
      const isRunning = child.exitCode === null && child.signalCode === null
      const ended = isRunning ? once(child, 'exit') : undefined
      child.kill('SIGKILL')
      if (pidFile !== undefined) killWritten(pidFile)
      await ended
      child = undefined
    },
  }
}

function killWritten(pidFile: string): void {
  try {
    process.kill(Number(readFileSync(pidFile, 'utf8').split('\n')[0]), 'SIGKILL')
  } catch {
    // It has not started.
  }
}

/** PostgreSQL refuses to run as root. */
function ownUser(folder: string): { uid?: number; gid?: number } {
  chmodSync(folder, 0o700)
  if (process.getuid?.() !== 0) return {}
  const idOf = (option: '-u' | '-g') => Number(execFileSync('id', [option, 'postgres']))
  const [uid, gid] = [idOf('-u'), idOf('-g')]
  chownSync(folder, uid, gid)
  return { uid, gid }
}
