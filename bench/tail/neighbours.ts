import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { promisify } from 'node:util'
import { PREPARED } from '../../lib/geo/files/prepare.ts'
import { DAY_MS, HOUR_MS } from '../../lib/parts/durations.ts'
import { formatHour, hourOf } from '../../lib/rum/hour.ts'
import { NODE_COMMAND } from '../../scripts/parts/start-process.ts'
import { hasCommand } from '../parts/machine.ts'
import type { Client } from '../traffic/client.ts'
import { driveEvenly } from '../traffic/drive.ts'
import type { Act, Traffic } from '../traffic/mix.ts'
import type { World } from './world.ts'

/** A running server under look-ups, and what another load beside them uses. */
export interface Scene extends World {
  readonly client: Client
  readonly traffic: Traffic
  readonly seconds: number
}

/** What happens on the server while look-ups are measured. */
export interface Neighbour {
  readonly name: string
  /** Whether to measure right after the start, when nothing has been loaded. */
  readonly isCold?: boolean
  /** A program that is not installed, if any. */
  readonly missing?: string
  readonly settings?: Readonly<Record<string, string>>
  /** Runs before the server starts. */
  readonly prepare?: (world: World) => void
  /** Whether `act` goes on evenly. Then it also runs before the measurement, so that V8 has compiled its code. */
  readonly isSteady?: boolean
  readonly act: (scene: Scene) => Promise<unknown>
}

/** The loads, in this order: the server has no atlas after the last ones. */
export const NEIGHBOURS: readonly Neighbour[] = [
  { name: 'nothing', act: async () => {} },
  { name: 'a start', isCold: true, act: async () => {} },
  {
    name: 'the first sign-in, after a start',
    isCold: true,
    act: ({ traffic }) => traffic.signIn(),
  },
  {
    name: 'first page views, after a start',
    isCold: true,
    act: ({ traffic }) => traffic.readPages(),
  },
  { name: '2 sign-ins/s', isSteady: true, act: evenly(2, ({ signIn }) => signIn) },
  { name: '5 new keys/s', isSteady: true, act: evenly(5, ({ createKey }) => createKey) },
  {
    name: 'overviews of 90 days, 1 in 2 s',
    isSteady: true,
    act: reads(0.5, telemetry('overview')),
  },
  { name: 'summaries of 90 days, 1 in 2 s', isSteady: true, act: reads(0.5, telemetry('summary')) },
  {
    name: 'searches in 100,000 audit rows, 2/s',
    isSteady: true,
    act: reads(2, () => AUDIT_SEARCH),
  },
  {
    name: 'batches of 1,000, 10/s',
    isSteady: true,
    act: evenly(10, (traffic) => traffic.locateBatch(1_000)),
  },
  {
    name: '1,000 beacons/s of 50 sites',
    isSteady: true,
    act: evenly(1_000, ({ sendBeacon }) => sendBeacon),
  },
  { name: 'page views, 5/s', isSteady: true, act: evenly(5, ({ readPages }) => readPages) },
  { name: 'the whole mix, 300/s', isSteady: true, act: evenly(300, ({ mix }) => mix) },
  { name: 'a backup', act: backUp },
  {
    name: 'Litestream and 200 beacons/s',
    settings: { MERIDIAN_REPLICATED: '1' },
    ...(!hasCommand('litestream') && { missing: 'litestream' }),
    act: replicate,
  },
  { name: 'a new database', act: replaceDatabase },
  { name: 'combining the databases', prepare: removeAtlas, act: async () => {} },
]

const AUDIT_SEARCH = '/v1/account/me/audit?search=shop-777'

function evenly(perSecond: number, choose: (traffic: Traffic) => Act): Neighbour['act'] {
  return ({ client, traffic, seconds }) => driveEvenly(client, choose(traffic), perSecond, seconds)
}

/** Reads with the key of the user who has much data. */
function reads(perSecond: number, path: (scene: Scene) => string): Neighbour['act'] {
  return (scene) => {
    const { client, seconds, server } = scene
    const call = { method: 'GET', path: path(scene), headers: server.headers } as const
    return driveEvenly(client, () => client.send(call), perSecond, seconds)
  }
}

function telemetry(kind: 'overview' | 'summary') {
  return ({ site, days }: Scene): string => {
    const from = formatHour(hourOf(Date.now() - days * DAY_MS + HOUR_MS))
    return `/v1/telemetry/rum/${kind}?domain=${new URL(site).host}&from=${from}`
  }
}

async function backUp({ server, folder }: Scene): Promise<void> {
  const [program, ...args] = NODE_COMMAND
  const command = [...args, 'scripts/backup.ts', '--out', join(folder, 'backup.tar.gz')]
  await promisify(execFile)(program, command, { env: server.env })
}

async function replicate(scene: Scene): Promise<void> {
  const { dataDir, folder } = scene
  const child = spawn('litestream', ['replicate', '-config', 'litestream.yml'], {
    env: {
      ...process.env,
      MERIDIAN_DATA_DIR: dataDir,
      LITESTREAM_REPLICA_URL: `file://${join(folder, 'replica')}`,
    },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  await evenly(200, ({ sendBeacon }) => sendBeacon)(scene)
  child.kill()
  await ended
}

/** Replaces a database by an equal one, which the server has to open and check. */
async function replaceDatabase({ geoFolder }: Scene): Promise<void> {
  await wait(1_000)
  const path = join(geoFolder, PREPARED.asn)
  copyFileSync(path, `${path}.new`)
  renameSync(`${path}.new`, path)
}

function removeAtlas({ geoFolder }: World): void {
  const atlases = readdirSync(geoFolder).filter((name) => name.startsWith('atlas-'))
  for (const name of atlases) rmSync(join(geoFolder, name))
}
