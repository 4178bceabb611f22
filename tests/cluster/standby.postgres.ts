import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
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
import { type Cluster, openCluster } from './cluster.ts'
import { type Acknowledged, newRecord, underLoad } from './load.ts'
import { type Prepared, prepare, SETTINGS } from './prepare.ts'

/*
 * Kills the primary under load. Connections then lead to the standby, which is still read-only, as behind a
 * balancer that does not ask which server is the primary. The standby is promoted only later.
 */

const NODES = 2
const SETTLED_MS = 30_000

const opened = new AsyncDisposableStack()
const acknowledged = newRecord()
let given: Prepared
let read: Read
let cluster: Cluster
const KINDS = ['beacons', 'keys', 'sites', 'inquiries'] as const
type Sizes = Readonly<Record<(typeof KINDS)[number], number>>
/** What was acknowledged when the standby was promoted, and how many connections it had shortly before. */
let atPromotion: Sizes
let connections = 0

const sizesOf = ({ beacons, keys, sites, inquiries }: Acknowledged): Sizes => {
  return { beacons, keys: keys.size, sites: sites.size, inquiries: inquiries.size }
}

/** Waits until more of each kind is acknowledged, for at most half a minute: a busy machine takes long. */
async function waitForMore(than: Sizes): Promise<void> {
  const deadline = performance.now() + SETTLED_MS
  const isMore = () => KINDS.every((kind) => sizesOf(acknowledged)[kind] > than[kind])
  while (!isMore() && performance.now() < deadline) await sleep(100)
}

async function failOver(): Promise<void> {
  const standby = opened.use(await cluster.database.addStandby())
  const url = new URL(given.databaseUrl)
  url.port = new URL(standby.url).port
  read = readFrom(url.href)
  await sleep(3_000)
  await waitForMore({ beacons: 0, keys: 0, sites: 0, inquiries: 0 })
  const onPrimary = readFrom(given.databaseUrl)
  assert.deepEqual(await onPrimary('SELECT sync_state FROM pg_stat_replication'), [['sync']])
  await cluster.database.kill()
  for (const { wire } of cluster.nodes) wire.lead(Number(url.port))
  await sleep(4_000)
  const ofNodes = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'node-%'"
  connections = await readNumber(read, ofNodes)
  atPromotion = sizesOf(acknowledged)
  standby.promote()
  await sleep(6_000)
  await waitForMore(atPromotion)
}

describe('servers whose primary is killed, and whose standby is promoted', {
  timeout: 200_000,
}, () => {
  before(async () => {
    const prepareAll = async (url: string) => {
      given = await prepare(url)
    }
    cluster = opened.use(await openCluster(NODES, SETTINGS, prepareAll))
    await underLoad({ cluster, ...given, acknowledged }, failOver)
    await untilCounted(read, 'rum_pages', acknowledged)
  })
  after(() => opened.disposeAsync())

  it('recover by themselves', (t) => {
    const all = sizesOf(acknowledged)
    t.diagnostic(JSON.stringify({ atPromotion, all, open: acknowledged.open, connections }))
    assert.deepEqual([...acknowledged.broken], [])
    for (const kind of KINDS) {
      assert.ok(atPromotion[kind] > 0, `no ${kind} before`)
      assert.ok(all[kind] > atPromotion[kind], `no ${kind} afterwards`)
    }
  })

  it('open no more connections than usual to a standby that only reads', () => {
    assert.ok(connections <= NODES * 15, `${connections} connections`)
  })

  it('have lost nothing that they had acknowledged', async () => {
    await checkBeacons(read, acknowledged)
    await checkKeys(read, cluster, acknowledged)
    await checkSites(read, acknowledged)
    await checkInquiries(read, acknowledged)
  })
})
