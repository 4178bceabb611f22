import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { HealthStatus } from '../../lib/contract/system.ts'
import { MINUTE_MS } from '../../lib/parts/durations.ts'
import {
  checkBeacons,
  checkInquiries,
  checkKeys,
  checkSites,
  type Read,
  readFrom,
  readNumber,
  untilCounted,
} from './check.ts'
import { type Cluster, type ClusterNode, openCluster } from './cluster.ts'
import { countLimited, newRecord, underLoad } from './load.ts'
import { NARROW_PER_MINUTE, type Prepared, prepare, SETTINGS } from './prepare.ts'

/*
 * Puts server processes on one PostgreSQL, whose clocks are a minute apart, under load, and causes faults.
 * At the end, compares the answers that clients got with what is stored and answered then. Takes about a
 * minute and a half, whatever happens.
 */

const NODES = 3
/** Nodes are marked dead after ten seconds without a heartbeat. */
const PAUSE_MS = 11_500
/** Counters are written every second; the write itself may take as long on a busy machine. */
const UNWRITTEN_MS = 2_000

const BURST = 20
const STALL_MS = 4_000

const acknowledged = newRecord()
let given: Prepared
let read: Read
let cluster: Cluster
/** Look-ups answered while PostgreSQL was away. */
let answeredWithout = 0
let countedLookUps = 0
/** How many look-ups were answered at once, before any fault, and how long that took. */
const burst = { answered: 0, ms: 0 }
/** How long the limited key was used. */
let limitedMs = 0

/** Uses the limited key on all nodes at once. */
async function sendBurst({ nodes }: Cluster): Promise<void> {
  const all = Array.from({ length: BURST }, () => nodes).flat()
  const startedAt = performance.now()
  burst.answered = await countLimited({ narrow: given.narrow, acknowledged }, all)
  burst.ms = performance.now() - startedAt
}

async function readClock({ url }: ClusterNode): Promise<number> {
  const body = await (await fetch(`${url}/health`)).json()
  return Date.parse(v.parse(HealthStatus, body).timestamp)
}

/** Kills, pauses and cuts off nodes, and ends PostgreSQL, with time to recover in between. */
async function causeFaults({ nodeAt, ...faults }: Cluster): Promise<void> {
  await sleep(3_000)
  await faults.kill(nodeAt(0))
  await sleep(1_000)
  await faults.start(nodeAt(0))
  await faults.cut(nodeAt(1))
  await sleep(2_000)
  const before = acknowledged.lookUps.length
  await faults.crashDatabase(1_500)
  answeredWithout = acknowledged.lookUps.length - before
  await sleep(3_000)
  const paused = faults.pause(nodeAt(2), PAUSE_MS)
  await sleep(2_000)
  await faults.kill(nodeAt(1))
  await faults.start(nodeAt(1))
  await faults.cut(nodeAt(0))
  await paused
  await sleep(3_000)
  await faults.stall(nodeAt(2), STALL_MS)
  await sleep(3_000)
  await faults.forget(nodeAt(0))
  await sleep(4_000)
}

const COUNT_LOOK_UPS = `SELECT sum(requests) FROM usage_by_operation
  WHERE operation = 'locateAddress' AND status = 200
    AND user_id <> (SELECT id FROM users WHERE email = 'narrow@example.com')`

describe('a cluster with faults', { timeout: 240_000 }, () => {
  before(async () => {
    cluster = await openCluster(NODES, SETTINGS, async (url) => {
      given = await prepare(url)
      read = readFrom(url)
    })
    const startedAt = performance.now()
    await sendBurst(cluster)
    await underLoad({ cluster, ...given, acknowledged }, () => causeFaults(cluster))
    limitedMs = performance.now() - startedAt
    await untilCounted(read, 'rum_hours', acknowledged)
    await sleep(3_000)
    countedLookUps = await readNumber(read, COUNT_LOOK_UPS)
  })
  after(() => cluster?.[Symbol.asyncDispose]())

  it('has nodes whose clocks are a minute apart', async () => {
    const times = await Promise.all(cluster.nodes.map(readClock))
    const now = Date.now()
    const minutes = times.map((time) => String(Math.round((time - now) / MINUTE_MS)))
    assert.deepEqual(minutes.toSorted(), ['-1', '0', '1'])
  })

  it('breaks no promise while it runs', (t) => {
    const { lookUps, beacons, keys, revoked, sites, inquiries, limited, open } = acknowledged
    const sizes = { lookUps: lookUps.length, keys: keys.size, revoked: revoked.size }
    const more = { sites: sites.size, inquiries: inquiries.size, limited, burst, limitedMs }
    t.diagnostic(JSON.stringify({ ...sizes, beacons, ...more, open }))
    assert.deepEqual([...acknowledged.broken].slice(0, 10), [])
    assert.ok(lookUps.length > 500, `only ${lookUps.length} look-ups`)
    assert.ok(beacons > 300, `only ${beacons} beacons`)
    assert.ok(revoked.size > 10, `only ${revoked.size} revocations`)
    assert.ok(sites.size > 10, `only ${sites.size} sites`)
    assert.ok(inquiries.size > 10, `only ${inquiries.size} inquiries`)
  })

  it('answers look-ups while PostgreSQL is away', () => {
    assert.ok(answeredWithout > 0)
  })

  it('loses no acknowledged beacon, and counts none twice', () => checkBeacons(read, acknowledged))

  it('keeps every key that it has returned, and refuses every key that it has revoked', () =>
    checkKeys(read, cluster, acknowledged))

  it('keeps every site that it has returned, exactly once', () => checkSites(read, acknowledged))

  it('stores every inquiry that it has accepted, exactly once', () =>
    checkInquiries(read, acknowledged))

  it('allows 10 requests a minute on all nodes together, and one extra at a time for each further node', () => {
    const most = NARROW_PER_MINUTE + NODES - 1
    const refilled = (ms: number) => Math.ceil((ms / MINUTE_MS) * NARROW_PER_MINUTE)
    const { answered, ms } = burst
    assert.ok(answered >= NARROW_PER_MINUTE, `only ${answered} at once`)
    assert.ok(answered <= most + refilled(ms), `${answered} at once, within ${ms} ms`)
    // The crash of PostgreSQL refills the bucket. Four times, a node that cannot reach it uses its own share.
    const filled = NARROW_PER_MINUTE + 4 * Math.floor(NARROW_PER_MINUTE / NODES)
    const bound = most + refilled(limitedMs) + filled
    assert.ok(acknowledged.limited <= bound, `${acknowledged.limited} of at most ${bound}`)
  })

  it('counts no look-up that it has not answered, and loses only those just before a kill', () => {
    const { lookUps, open } = acknowledged
    const counted = countedLookUps
    const { length: unwritten } = cluster.kills.flatMap(({ node, at }) =>
      lookUps.filter((one) => one.node === node && one.at <= at && one.at > at - UNWRITTEN_MS),
    )
    const { length } = lookUps
    assert.ok(counted <= length + open.lookUps, `${counted} of ${length}`)
    assert.ok(counted >= length - unwritten, `${counted} of ${length} - ${unwritten}`)
  })
})
