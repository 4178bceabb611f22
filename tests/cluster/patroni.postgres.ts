import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDataFolder, startServer, untilHealthy } from '../support/process.ts'
import {
  checkBeacons,
  checkInquiries,
  checkKeys,
  checkSites,
  type Read,
  readFrom,
  untilCounted,
} from './check.ts'
import { disturb, type LoadedNode, type LoadedNodes } from './cluster.ts'
import { type Acknowledged, newRecord, underLoad } from './load.ts'
import { openPatroni, type PatroniCluster } from './patroni.ts'
import { type Prepared, prepare, SETTINGS } from './prepare.ts'

// run: alone

/*
 * Three servers, and three PostgreSQL under Patroni with etcd. The primary and members of etcd are killed under load,
 * and the primary is changed as planned. Nobody tells the servers.
 */

const NODES = 3
const LOOK_UP = '/v1/ip/81.2.69.160'
const KINDS = ['beacons', 'keys', 'sites', 'inquiries'] as const
/** A busy machine takes longer than the 30 seconds of docs/growth.md. */
const LONGEST_MS = 60_000

const opened = new AsyncDisposableStack()
const acknowledged = newRecord()
/** How long look-ups took, in milliseconds. */
const waits: number[] = []
/** How long writes were away, in seconds, by what happened. */
const away: Record<string, number> = {}
/** Answers other than 200 to look-ups with known keys. */
const interrupted: string[] = []
let patroni: PatroniCluster
let given: Prepared
let read: Read
let cluster: LoadedNodes

const sizes = ({ beacons, keys, sites, inquiries }: Acknowledged) => {
  return { beacons, keys: keys.size, sites: sites.size, inquiries: inquiries.size }
}

/** Waits until writes of each kind are answered. */
async function untilWritten(): Promise<void> {
  const before = sizes(acknowledged)
  const signal = AbortSignal.timeout(LONGEST_MS)
  const isMore = () => KINDS.every((kind) => sizes(acknowledged)[kind] > before[kind])
  while (!isMore()) await sleep(20, undefined, { signal })
}

async function happen(name: string, fault: () => Promise<void>): Promise<void> {
  await disturb(cluster.nodes, async () => {
    await fault()
    const from = performance.now()
    await untilWritten()
    away[name] = Math.round((performance.now() - from) / 100) / 10
  })
}

/** Looks up at the node all the time, as a client whose key it knows. */
async function lookUpUntil(ended: AbortSignal, node: LoadedNode, key: string): Promise<void> {
  while (!ended.aborted) {
    const from = performance.now()
    try {
      const signal = AbortSignal.timeout(LONGEST_MS)
      const answer = await fetch(`${node.url}${LOOK_UP}`, { headers: { 'x-api-key': key }, signal })
      const text = await answer.text()
      if (answer.status !== 200) interrupted.push(`${node.name}: ${answer.status} ${text}`)
    } catch (error) {
      interrupted.push(`${node.name}: ${error}`)
    }
    waits.push(performance.now() - from)
    await sleep(50)
  }
}

async function breakAll(): Promise<void> {
  const { etcd, untilReady, switchOver } = patroni
  await untilWritten()
  await happen('a planned switchover', switchOver)
  const { primary } = await untilReady(etcd.length)
  const [member = assert.fail()] = etcd
  await happen('a member of etcd is killed', () => member.kill())
  await happen('the primary is killed, too', () => primary.kill())
  assert.notEqual((await untilReady(etcd.length - 1)).primary.name, primary.name)
}

async function startNode(index: number): Promise<LoadedNode> {
  const { settings, remove } = newDataFolder()
  opened.defer(remove)
  const all = { ...settings, ...SETTINGS, MERIDIAN_DATABASE_URL: patroni.url }
  const server = await startServer(all)
  opened.defer(async () => {
    await server.stop('SIGKILL')
  })
  await untilHealthy(server)
  return { name: `node-${index + 1}`, url: server.url, server, faults: 0, openFaults: 0 }
}

describe('servers on PostgreSQL under Patroni', { timeout: 280_000 }, () => {
  before(async () => {
    patroni = opened.use(await openPatroni())
    given = await prepare(patroni.url)
    read = readFrom(patroni.url)
    const nodes = await Promise.all(Array.from({ length: NODES }, (_, at) => startNode(at)))
    cluster = { nodes, nodeAt: (index) => nodes[index % NODES] ?? assert.fail() }
    const ending = new AbortController()
    const key = given.owners.at(-1) ?? ''
    const looking = nodes.map((node) => lookUpUntil(ending.signal, node, key))
    try {
      await underLoad({ cluster, ...given, acknowledged }, breakAll)
    } finally {
      ending.abort()
      await Promise.all(looking)
    }
    await untilCounted(read, 'rum_pages', acknowledged)
  })
  after(() => opened.disposeAsync())

  it('go on by themselves', (t) => {
    t.diagnostic(JSON.stringify({ away, all: sizes(acknowledged), open: acknowledged.open }))
    assert.deepEqual([...acknowledged.broken], [])
    for (const { server } of cluster.nodes)
      assert.doesNotMatch(server?.output() ?? '', /"level":60/)
  })

  it('answer each look-up meanwhile', (t) => {
    t.diagnostic(`${waits.length} look-ups, the longest ${Math.round(Math.max(...waits))} ms`)
    assert.deepEqual(interrupted, [])
  })

  it('have lost nothing that they had acknowledged, and doubled nothing', async () => {
    await checkBeacons(read, acknowledged)
    await checkKeys(read, cluster, acknowledged)
    await checkSites(read, acknowledged)
    await checkInquiries(read, acknowledged)
  })
})
