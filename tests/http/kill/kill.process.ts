import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { addUsers } from '../../accounts/many-users.ts'
import { createAsk } from '../../backup/drill/ask.ts'
import { type Holdings, readHoldings } from '../../backup/drill/ledger.ts'
import {
  type Acknowledged,
  BEACON_CLIENTS,
  LOOKUP_CLIENTS,
  startWriters,
} from '../../backup/drill/writers.ts'
import { widePlansFile } from '../../support/plans-file.ts'
import { newDataFolder, startServer } from '../../support/process.ts'
import { askWith, type Change, startChangeLoad } from './change-load.ts'
import { checkChanges } from './check-changes.ts'

// run: alone

/*
 * All kinds of writes run at once until kill -9, again and again on the same data. After each kill,
 * every acknowledged write is stored exactly once. Only look-up counts since the last flush are lost.
 */

const ROUNDS = 15
/** Users who create keys and sites, and as many who also delete them and send inquiries. */
const USERS = 60
const ORIGIN = 'https://shop.example'
/** Several flush intervals. `metering.process.ts` checks flushes closely, without other load. */
const LATE_MS = 5_000
/** The number of keys of earlier rounds that are tried again after each restart. */
const TRIED_AGAIN = 60

const { dataDir, settings: folder, remove } = newDataFolder()
after(remove)
const database = join(dataDir, 'app.db')
const plans = widePlansFile()
const settings = {
  ...folder,
  MERIDIAN_PLANS: plans,
  MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
  MERIDIAN_CONTACT: 'store',
  MERIDIAN_DEMO: '0',
  MERIDIAN_LOG_LEVEL: 'warn',
}

const keys: string[] = []
before(async () => {
  keys.push(...(await addUsers(database, plans, 2 * USERS)))
  const server = await startServer(settings)
  const headers = { 'x-api-key': keys[0] ?? '' }
  const body = JSON.stringify({ name: ORIGIN })
  const added = await fetch(`${server.url}/v1/account/me/sites`, { method: 'POST', headers, body })
  assert.equal(added.status, 201)
  await server.stop('SIGTERM')
})

describe('kill -9 amid writes of every kind', () => {
  const changes: Change[] = []
  const texts = new Map<string, string>()

  /** Checks that only revoked keys are refused. Returns when the other keys got their answers. */
  async function tryKeys(url: string): Promise<number[]> {
    const agent = new Agent({ keepAlive: true })
    const ask = createAsk(agent, url)
    const answeredAt: number[] = []
    for (const [name, text] of [...texts].slice(-TRIED_AGAIN)) {
      const { status, at } = await askWith(ask, text)
      assert.ok(possibleStatuses(name).includes(status), `a key got ${status}`)
      if (status === 200) answeredAt.push(at)
    }
    agent.destroy()
    return answeredAt
  }

  /** Possible statuses for the key: an unanswered revocation may have happened or not. */
  function possibleStatuses(name: string): number[] {
    const isOfKey = (change: Change) => change.action === 'revoke_key' && change.name === name
    const revoking = changes.find(isOfKey)
    if (revoking === undefined) return [200]
    return revoking.isAcknowledged ? [401] : [200, 401]
  }

  /** Runs a server with writers and kills it at a random moment. */
  async function work() {
    const server = await startServer(settings)
    try {
      const tried = await tryKeys(server.url)
      const writers = startWriters({ url: server.url, keys: keys.slice(USERS), origin: ORIGIN })
      const load = startChangeLoad(server.url, keys.slice(0, USERS))
      writers.acknowledged.lookups.push(...tried)
      await sleep(400 + 2_000 * Math.random())
      const killedAt = performance.now()
      await server.stop('SIGKILL')
      await Promise.all([writers.ended, load.ended])
      return { writers, load, killedAt }
    } finally {
      await server.stop('SIGKILL')
    }
  }

  for (let round = 1; round <= ROUNDS; round++) {
    it(`loses no acknowledged write and repeats none: round ${round}`, async (t) => {
      const earlier = readHoldings(database)
      const { writers, load, killedAt } = await work()
      assert.deepEqual([...writers.acknowledged.others, ...load.others], [])
      checkCounts(earlier, readHoldings(database), writers.acknowledged, killedAt)
      changes.push(...load.changes)
      for (const [name, text] of load.texts) texts.set(name, text)
      checkChanges(database, changes)
      t.diagnostic(summaryOf(writers.acknowledged, load.changes))
    })
  }
})

function checkCounts(
  earlier: Holdings,
  { keys: keysNow, sites, beacons, lookups }: Holdings,
  acknowledged: Acknowledged,
  killedAt: number,
): void {
  for (const { id } of acknowledged.keys) assert.ok(keysNow.has(id), `the key ${id} is lost`)
  for (const { id } of acknowledged.sites) assert.ok(sites.has(id), `the site ${id} is lost`)
  const stored = beacons - earlier.beacons
  const answered = acknowledged.beacons.length
  assert.ok(stored >= answered, `${answered - stored} beacons are lost`)
  assert.ok(stored <= answered + BEACON_CLIENTS, `${stored} beacons of ${answered}`)
  const counted = lookups - earlier.lookups
  const asked = acknowledged.lookups.length
  const lately = acknowledged.lookups.filter((at) => at > killedAt - LATE_MS).length
  assert.ok(asked - counted <= lately, `${asked - counted} look-ups lost, ${lately} were late`)
  assert.ok(counted <= asked + LOOKUP_CLIENTS, `${counted} look-ups of ${asked}`)
}

function summaryOf(acknowledged: Acknowledged, changes: readonly Change[]): string {
  const done = changes.filter(({ isAcknowledged }) => isAcknowledged).length
  const { keys: made, sites, beacons, lookups } = acknowledged
  const counts = { changes: done + made.length + sites.length, beacons: beacons.length }
  return JSON.stringify({ ...counts, lookups: lookups.length, open: changes.length - done })
}
