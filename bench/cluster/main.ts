import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PgPool } from '../../lib/postgres/connection.ts'
import { migratePg } from '../../lib/postgres/migrate.ts'
import { openPool } from '../../lib/postgres/pool.ts'
import { createRandom } from '../../scripts/parts/random.ts'
import { report } from '../../scripts/parts/run.ts'
import { randomMix, writeAddresses } from '../parts/addresses.ts'
import { makeBeacon } from '../parts/beacon.ts'
import { drive, type Load } from '../parts/load.ts'
import { cpuMicroseconds, makeFolder, memoryMegabytes } from '../parts/machine.ts'
import type { BenchOptions } from '../parts/options.ts'
import { checkAnswer, prepareMeridian, startServer, type Target } from '../parts/servers.ts'
import { printTable, type Row } from '../parts/table.ts'
import { addKeys, addSites, watchPostgres } from './database.ts'
import { benchRevocations } from './revocations.ts'

const NODES = 3
const KEYS = 100_000
const ADDRESSES = 200_000
const BEACONS = 1_000
const SITES = [10, 100, 10_000]
/** `perSecond`: how many requests all servers get together; absent: as many as they answer. */
const USUAL: Pace = { servers: NODES, perSecond: 3_000 }
const LOADS: readonly Pace[] = [USUAL, { servers: NODES }, { servers: 1 }]
const CALLERS = [300, 3_000, 30_000]
/** Plans with 600 and 120 requests a minute. At the usual pace, each caller sends 60. */
const LIMITED = { plans: ['pro-600', 'starter-120'], callers: 3_000 }
/** With so many callers for each second at this pace, each server has heard of nearly all of them. */
const WARM_UP: Pace = { servers: NODES }
const CALLERS_PER_SECOND = 1_000
/** To each server. Beacons need more, because each waits until those of 50 ms are stored together. */
const CONNECTIONS = { lookUps: 32, beacons: 256 }
/** By then, what was counted is written, and all beacons are summed up. */
const SETTLE_MS = 15_000
const START_MS = 5_000
const IDLE_MS = 20_000

interface Pace {
  readonly servers: number
  readonly perSecond?: number
}

interface Cluster {
  readonly nodes: readonly Target[]
  readonly folder: string
  readonly addresses: string
  /** The processor time of PostgreSQL in microseconds. */
  readonly readPostgres: () => number
}

interface IdleCluster extends Cluster {
  /** What PostgreSQL costs without requests, in microseconds of its processors per second. */
  readonly idlePostgres: number
}

/** Measures three servers on the empty database MERIDIAN_DATABASE_URL, whose PostgreSQL runs on this machine. */
export async function benchCluster(options: BenchOptions): Promise<void> {
  const url = process.env['MERIDIAN_DATABASE_URL']
  if (url === undefined) throw new Error('Cannot measure: set MERIDIAN_DATABASE_URL')
  using folder = makeFolder()
  await using pool = openPool({ url, max: 5, name: 'bench', onError: () => {} })
  await migratePg(pool)
  await using opening = new AsyncDisposableStack()
  const nodes: Target[] = []
  for (let node = 0; node < NODES; node++) {
    nodes.push(opening.use(await startNode(join(folder.path, `${node}`), options)))
  }
  const before = await memoryOf(nodes)
  report(`Adding ${KEYS} keys and ${Math.max(...SITES)} sites`)
  const keys = await addKeys(pool, KEYS)
  const limitedKeys = await addLimitedKeys(pool)
  await addSites(pool, Math.max(...SITES))
  // Otherwise, PostgreSQL does so by itself at some later time, which would count as the cost of what runs then.
  await pool.use((connection) => connection.query('VACUUM ANALYZE'))
  const growth = (await memoryOf(nodes)).map((after, at) => after - (before[at] ?? 0))
  const bytes = (growth.reduce((sum, one) => sum + one) / NODES / KEYS) * 2 ** 20
  printTable([{ keys: KEYS, 'bytes of a server for a key': bytes }], 'Memory')
  await benchRevocations(nodes, keys)
  const addresses = writeAddresses(folder.path, randomMix(ADDRESSES))
  const readPostgres = await watchPostgres(pool)
  const started = { nodes, folder: folder.path, addresses, readPostgres }
  const cluster = { ...started, idlePostgres: await benchIdle(started) }
  const texts = keys.slice(KEYS / 2).map(({ text }) => text)
  const rows: Row[] = []
  for (const count of CALLERS) {
    const paces = count === Math.min(...CALLERS) ? [USUAL] : LOADS
    rows.push(...(await benchCallers(cluster, texts.slice(0, count), paces, options)))
  }
  for (const [plan, limited] of limitedKeys) {
    const measured = await benchCallers(cluster, limited, [USUAL], options)
    rows.push(...measured.map((row) => ({ ...row, plan })))
  }
  printTable(rows, 'Look-ups with keys')
  await benchBeacons(cluster, options)
}

function startNode(folder: string, { geoFolder }: BenchOptions): Promise<Target> {
  mkdirSync(folder, { mode: 0o700 })
  return startServer(prepareMeridian(folder, geoFolder, { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }))
}

async function memoryOf(nodes: readonly Target[]): Promise<number[]> {
  for (const node of nodes) await checkAnswer(node)
  await sleep(START_MS)
  return nodes.map(({ pid }) => memoryMegabytes(pid, 'RssAnon'))
}

/** What servers cost that nobody uses. Returns what PostgreSQL costs, in microseconds per second. */
async function benchIdle({ nodes, readPostgres }: Cluster): Promise<number> {
  const readNodes = () => sumOf(nodes, ({ pid }) => cpuMicroseconds(pid))
  const before = { postgres: readPostgres(), nodes: readNodes() }
  await sleep(IDLE_MS)
  const perSecond = (used: number) => used / (IDLE_MS / 1_000)
  const idlePostgres = perSecond(readPostgres() - before.postgres)
  const row = {
    servers: nodes.length,
    'PostgreSQL µs/s': idlePostgres,
    'a server µs/s': perSecond(readNodes() - before.nodes) / nodes.length,
  }
  printTable([row], 'Without requests')
  return idlePostgres
}

/** Drives servers at once. Returns what all requests have cost them, and PostgreSQL beyond what it costs idle. */
async function driveAll(
  { nodes: all, readPostgres, idlePostgres }: IdleCluster,
  { servers, perSecond }: Pace,
  { connections = 1, args: given }: Load,
  seconds: number,
) {
  const nodes = all.slice(0, servers)
  const pause = perSecond === undefined ? 0 : (connections * servers * 1_000) / perSecond
  const args = { ...given, pause }
  const startedAt = performance.now()
  const before = {
    postgres: readPostgres(),
    nodes: sumOf(nodes, ({ pid }) => cpuMicroseconds(pid)),
  }
  const runs = await Promise.all(
    nodes.map((node, at) =>
      drive(node, { connections, args: { ...args, offset: at * 50_000 } }, seconds),
    ),
  )
  await sleep(SETTLE_MS)
  const idle = (idlePostgres * (performance.now() - startedAt)) / 1_000
  const requests = sumOf(runs, (run) => run['requests/s'] * seconds)
  return {
    requests,
    failed: sumOf(runs, ({ failed }) => failed),
    postgres: readPostgres() - before.postgres - idle,
    nodes: sumOf(nodes, ({ pid }) => cpuMicroseconds(pid)) - before.nodes,
  }
}

function nameOf({ servers, perSecond }: Pace) {
  return { servers, 'offered/s': perSecond ?? 'all' }
}

/** Returns the texts of the keys by their plans. */
function addLimitedKeys(pool: PgPool): Promise<(readonly [plan: string, texts: string[]])[]> {
  return Array.fromAsync(LIMITED.plans, async (plan) => {
    const keys = await addKeys(pool, LIMITED.callers, plan)
    return [plan, keys.map(({ text }) => text)] as const
  })
}

/** Each caller sends requests to all servers. The first requests of a day cost more: they add rows. */
async function benchCallers(
  cluster: IdleCluster,
  texts: readonly string[],
  paces: readonly Pace[],
  { seconds }: BenchOptions,
): Promise<Row[]> {
  const keys = join(cluster.folder, 'keys.txt')
  writeFileSync(keys, texts.join('\n'))
  const count = texts.length
  const load = { connections: CONNECTIONS.lookUps, args: { addresses: cluster.addresses, keys } }
  const measure = async (pace: Pace, day: string): Promise<Row> => {
    const used = await driveAll(cluster, pace, load, seconds)
    const active = activeCallers(count, used.requests / pace.servers / seconds)
    return {
      plan: 'unlimited',
      callers: count,
      ...nameOf(pace),
      requests: day,
      'look-ups/s': used.requests / seconds,
      'active callers of a server in a second': active,
      'PostgreSQL µs/active caller': used.postgres / (active * pace.servers * seconds),
      'PostgreSQL µs/look-up': used.postgres / used.requests,
      'server µs/look-up': used.nodes / used.requests,
      failed: used.failed,
    }
  }
  const first = await measure(USUAL, 'first of the day')
  await driveAll(cluster, WARM_UP, load, Math.ceil(count / CALLERS_PER_SECOND))
  return [first, ...(await Array.fromAsync(paces, (pace) => measure(pace, 'later')))]
}

/** How many of `count` callers a server hears of in a second, if each of its requests draws one. */
function activeCallers(count: number, requests: number): number {
  return count * (1 - (1 - 1 / count) ** requests)
}

async function benchBeacons(cluster: IdleCluster, { seconds }: BenchOptions) {
  const random = createRandom(1)
  const beacons = join(cluster.folder, 'beacons.txt')
  const texts = Array.from({ length: BEACONS }, () => JSON.stringify(makeBeacon(random)))
  writeFileSync(beacons, texts.join('\n'))
  const rows: Row[] = []
  for (const sites of SITES) {
    const args = { addresses: cluster.addresses, beacons, sites }
    const load = { connections: CONNECTIONS.beacons, args }
    // Warms up, and adds the first rows of the hour.
    await driveAll(cluster, USUAL, load, seconds)
    for (const pace of LOADS) {
      const { requests, postgres, nodes, failed } = await driveAll(cluster, pace, load, seconds)
      rows.push({
        sites,
        ...nameOf(pace),
        'beacons/s': requests / seconds,
        'PostgreSQL µs/beacon': postgres / requests,
        'server µs/beacon': nodes / requests,
        failed,
      })
    }
  }
  printTable(rows, 'Beacons')
}

function sumOf<Item>(items: readonly Item[], measure: (item: Item) => number): number {
  return items.reduce((sum, item) => sum + measure(item), 0)
}
