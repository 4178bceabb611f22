import assert from 'node:assert/strict'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { addUsers, writeWidePlan } from '../../accounts/many-users.ts'
import { geoFiles, makeGeoFolder } from '../../support/geo-files.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { addUncopied, checkedTimeOf, type Holdings, readHoldings } from './ledger.ts'
import { checkLitestream, restoreCopy, startReplicated, waitForCopy } from './litestream.ts'
import { type Acknowledged, startWriters } from './writers.ts'

// run: alone

/*
 * The restore drill: the server runs under Litestream with writes of every kind, while the copy is
 * restored again and again. Then both processes are killed and the copy is restored elsewhere. It must
 * contain every write acknowledged more than `MAX_LOSS_MS` before the kill. Every other round continues
 * with the restored copy, as after the loss of a machine; the others continue with the old disk.
 */

const { DRILL_MINUTES = '2', DRILL_MAX_LOSS_MS = '4000', DRILL_REPLICA_URL } = process.env
const MINUTES = Number(DRILL_MINUTES)
/** Two seconds, and two for a busy machine. */
const MAX_LOSS_MS = Number(DRILL_MAX_LOSS_MS)
const USERS = 60
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
      const round = await runMachine(machine, copied)
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
  /** The contents of the copy at the end. */
  readonly copied: Holdings
  readonly restores: number
  readonly acknowledged: number
  /** The time from the acknowledgement of the first lost write to the kill. */
  readonly lossMs: number
  /** The largest lag of the copy while both processes ran. */
  readonly lagMs: number
}

/** Runs the machine until it is killed; a new one restores the copy first. */
async function runMachine(machine: number, before: Holdings): Promise<Round> {
  const disk = existsSync(databaseOf(machine)) ? readHoldings(databaseOf(machine)) : before
  const server = await startReplicated(settingsOf(machine))
  if (disk.sites.size === 0) await registerOrigin(server.url)
  await waitForCopy(settingsOf(machine))
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
  assert.ok(
    last.lagMs <= MAX_LOSS_MS,
    `a write acknowledged ${last.lagMs} ms before the kill is lost`,
  )
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

/** Restores the copy elsewhere and checks it. `lagMs` is how far it lags behind the server. */
async function restoreAndCheck(
  machine: number,
  before: Holdings,
  acknowledged: Acknowledged,
  now = performance.now(),
): Promise<{ holdings: Holdings; lagMs: number }> {
  const path = join(folder, `restored-${crypto.randomUUID()}.db`)
  await restoreCopy(path, settingsOf(machine))
  const holdings = readHoldings(path)
  const lagMs = Math.max(0, Math.round(now - checkedTimeOf(holdings, before, acknowledged, now)))
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
