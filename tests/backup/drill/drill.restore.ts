import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { geoFiles, makeGeoFolder } from '../geo-files.ts'
import { tempFolder } from '../temp-folder.ts'
import { addUncopied, type Holdings, momentOf, readHoldings } from './ledger.ts'
import { checkLitestream, restoreCopy, startReplicated } from './litestream.ts'
import { addUsers, writeWidePlan } from './users.ts'
import { type Acknowledged, startWriters } from './writers.ts'

/*
 * The restore drill: the server runs under Litestream with writes of every kind, the copy is
 * restored again and again meanwhile, then both are killed and the copy is restored elsewhere. All
 * that was acknowledged more than two seconds before must be there. Every other round goes on with
 * the restored copy, as after the loss of a machine; the others with what the disk has.
 */

const { DRILL_MINUTES = '2', DRILL_REPLICA_URL } = process.env
const MINUTES = Number(DRILL_MINUTES)
const MAX_LOSS_MS = 2_000
const USERS = 6
const ORIGIN = 'https://shop.example'

const folder = tempFolder()
const plansFile = join(folder, 'plans.json')
const keys: string[] = []

before(async () => {
  checkLitestream()
  writeWidePlan(plansFile)
  makeGeoFolder(dataDirOf(0))
  keys.push(...(await addUsers(databaseOf(0), plansFile, USERS)))
})

describe('a machine that is lost while its database is copied by Litestream', () => {
  it(`can be restored from the copy, for ${MINUTES} minutes`, async (t) => {
    const end = performance.now() + MINUTES * 60_000
    const total = { rounds: 0, restores: 0, acknowledged: 0, worstLossMs: 0, worstLagMs: 0 }
    let machine = 0
    let copied = readHoldings(databaseOf(machine))
    while (total.rounds < 2 || performance.now() < end) {
      const round = await work(machine, copied)
      copied = round.copied
      total.rounds += 1
      total.restores += round.restores
      total.acknowledged += round.acknowledged
      total.worstLossMs = Math.max(total.worstLossMs, round.lossMs)
      total.worstLagMs = Math.max(total.worstLagMs, round.lagMs)
      t.diagnostic(JSON.stringify(total))
      if (total.rounds % 2 === 0) continue
      machine += 1
      makeGeoFolder(dataDirOf(machine))
    }
  })
})

interface Round {
  /** What the copy held at the end. */
  readonly copied: Holdings
  readonly restores: number
  readonly acknowledged: number
  /** How long before the kill the first was acknowledged that is lost. */
  readonly lossMs: number
  /** By how much the copy lagged behind at worst, while all was running. */
  readonly lagMs: number
}

/** Runs the machine until it is killed; a new one restores the copy first. */
async function work(machine: number, before: Holdings): Promise<Round> {
  const disk = existsSync(databaseOf(machine)) ? readHoldings(databaseOf(machine)) : before
  const server = await startReplicated(settingsOf(machine))
  if (disk.sites.size === 0) await registerOrigin(server.url)
  const { acknowledged, ended } = startWriters({ url: server.url, keys, origin: ORIGIN })
  addUncopied(acknowledged, disk, before, performance.now())
  let [restores, lagMs] = [1, 0]
  let killedAt: number
  try {
    for (const until = performance.now() + roundMs(); performance.now() < until; restores++) {
      await sleep(2_000 * Math.random())
      lagMs = Math.max(lagMs, (await restoreAndCheck(machine, before, acknowledged)).lagMs)
    }
  } finally {
    killedAt = performance.now()
    await server.kill()
    await ended
  }
  const last = await restoreAndCheck(machine, before, acknowledged, killedAt)
  assert.deepEqual([...acknowledged.others], [])
  assert.ok(last.lagMs <= MAX_LOSS_MS, `acknowledged ${last.lagMs} ms before the kill, and lost`)
  const { holdings: copied, lagMs: lossMs } = last
  return { copied, restores, acknowledged: countOf(acknowledged), lossMs, lagMs }
}

function roundMs(): number {
  return 8_000 + 12_000 * Math.random()
}

function countOf({ keys: made, sites, beacons, lookups }: Acknowledged): number {
  return made.length + sites.length + beacons.length + lookups.length
}

async function registerOrigin(url: string): Promise<void> {
  const answer = await fetch(`${url}/v1/account/me/sites`, {
    method: 'POST',
    headers: { 'x-api-key': keys[0] ?? '' },
    body: JSON.stringify({ name: ORIGIN }),
  })
  assert.equal(answer.status, 201)
}

/** Restores the copy elsewhere; `lagMs` is how much of the end is missing. */
async function restoreAndCheck(
  machine: number,
  before: Holdings,
  acknowledged: Acknowledged,
  now = performance.now(),
): Promise<{ holdings: Holdings; lagMs: number }> {
  const path = join(folder, `restored-${crypto.randomUUID()}.db`)
  await restoreCopy(path, settingsOf(machine))
  const holdings = readHoldings(path)
  const lagMs = Math.max(0, Math.round(now - momentOf(holdings, before, acknowledged, now)))
  for (const ending of ['', '-shm', '-wal']) rmSync(`${path}${ending}`, { force: true })
  return { holdings, lagMs }
}

function dataDirOf(machine: number): string {
  return join(folder, `machine-${machine}`)
}

function databaseOf(machine: number): string {
  return join(dataDirOf(machine), 'app.db')
}

function settingsOf(machine: number) {
  const { city, asn } = geoFiles()
  return {
    MERIDIAN_DATA_DIR: dataDirOf(machine),
    MERIDIAN_GEO: `${city},${asn}`,
    MERIDIAN_PLANS: plansFile,
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
    MERIDIAN_LOG_LEVEL: 'warn',
    LITESTREAM_REPLICA_URL: DRILL_REPLICA_URL ?? `file://${join(folder, 'replica')}`,
    LITESTREAM_ACCESS_KEY_ID: process.env['LITESTREAM_ACCESS_KEY_ID'] ?? '',
    LITESTREAM_SECRET_ACCESS_KEY: process.env['LITESTREAM_SECRET_ACCESS_KEY'] ?? '',
  }
}
