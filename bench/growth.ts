import { statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openDb } from '../lib/db/open.ts'
import { SECOND_MS } from '../lib/parts/durations.ts'
import { report } from '../scripts/parts/run.ts'
import { randomMix, writeAddresses } from './parts/addresses.ts'
import { writeDataSet } from './parts/data-set.ts'
import { fillKeys } from './parts/fill-keys.ts'
import { driveInRounds } from './parts/load.ts'
import {
  cpuMicroseconds,
  makeFolder,
  memoryMegabytes,
  moveThreadsToLoadCore,
} from './parts/machine.ts'
import type { BenchOptions } from './parts/options.ts'
import { checkAnswer, startMeridian, type Target } from './parts/servers.ts'
import { printTable, type Row } from './parts/table.ts'

/** A server of one size. */
interface GrownServer {
  readonly target: Target
  /** The size to show in the table. */
  readonly size: number
  /** A file of keys from which every request draws one; default: the key of `target`. */
  readonly keys?: string
  /** Default: 64. */
  readonly connections?: number
}

const ADDRESSES = 1_000_000
/** Requests per second while latency is measured: at most a fifth of what the server can do. */
const STEADY_RATE = 2_000
const DURATION = { rounds: 3, seconds: 4 }

/** The processor time of an idle server in a second. */
const IDLE_US = 50_000

/** Quantities that grow while everything else stays the same. */
const DIMENSIONS = [
  { of: 'keys', title: 'keys', sizes: [1, 1_000, 100_000, 1_000_000], start: startWithKeys },
  {
    of: 'connections',
    title: 'connections',
    sizes: [1, 10, 100, 1_000],
    start: startForConnections,
  },
  {
    of: 'networks',
    // Their files have about 5, 15, 50 and 150 MB.
    title: 'MB of data',
    sizes: [75_000, 270_000, 1_130_000, 3_600_000],
    start: startWithData,
  },
]

/** Measures a server at each size of each dimension, and prints one table per dimension. */
export async function benchGrowth({ geoFolder }: BenchOptions): Promise<void> {
  using folder = makeFolder()
  const addresses = writeAddresses(folder.path, randomMix(ADDRESSES))
  for (const { of, title, sizes, start } of DIMENSIONS) {
    const rows = await Array.fromAsync(sizes, async (size): Promise<Row> => {
      report(`Measuring ${size} ${of}`)
      using own = makeFolder()
      const server = await start(size, own.path, geoFolder)
      await using _target = server.target
      return { [title]: server.size, ...(await measure(server, addresses)) }
    })
    printTable(rows)
  }
}

async function startWithKeys(size: number, folder: string, geoFolder: string) {
  const db = openDb(join(folder, 'app.db'))
  const texts = fillKeys(db, size - 1)
  db.$client.close()
  const target = await startMeridian(folder, geoFolder)
  const keys = join(folder, 'keys.txt')
  writeFileSync(keys, [target.headers['X-API-Key'], ...texts].join('\n'))
  return { target, size, keys }
}

async function startForConnections(size: number, folder: string, geoFolder: string) {
  // One address may open a tenth of these.
  const settings = { MERIDIAN_MAX_CONNECTIONS: '20000' }
  const target = await startMeridian(folder, geoFolder, settings)
  return { target, size, connections: size }
}

async function startWithData(networks: number, folder: string) {
  const file = join(folder, 'data-set.mmdb')
  writeDataSet(file, networks)
  const target = await startMeridian(folder, join(folder, 'own-geo'), { MERIDIAN_GEO: file })
  return { target, size: statSync(file).size / 1e6 }
}

/** Measures latency at a steady rate, and everything else at full speed. */
async function measure(server: GrownServer, addresses: string): Promise<Row> {
  const { target, keys, connections = 64 } = server
  const args = { addresses, ...(keys !== undefined && { keys }) }
  const pause = (connections * 1_000) / STEADY_RATE
  const trials = [args, { ...args, pause }].map((each) => {
    return { target, load: { connections, args: each } }
  })
  await checkAnswer(target)
  await waitUntilIdle(target.pid)
  using _threads = moveThreadsToLoadCore(target.pid)
  const [full, steady] = await driveInRounds(trials, DURATION)
  if (full === undefined || steady === undefined) return {}
  return {
    ...full.measured,
    'p50 ms': steady.measured['p50 ms'],
    'p99 ms': steady.measured['p99 ms'],
    'mapped MB': memoryMegabytes(target.pid, 'RssFile'),
    failed: full.measured.failed + steady.measured.failed,
  }
}

/** Waits until the server has loaded its keys, which takes half a minute for a million. */
async function waitUntilIdle(pid: number): Promise<void> {
  for (;;) {
    const before = cpuMicroseconds(pid)
    await sleep(SECOND_MS)
    const used = cpuMicroseconds(pid) - before
    // Some systems do not report it.
    if (used < IDLE_US || Number.isNaN(used)) return
  }
}
