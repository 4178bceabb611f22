import assert from 'node:assert/strict'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { newDataFolder, startServer } from '../e2e/process.ts'
import { createAsk } from '../restore/ask.ts'
import { type Holdings, readHoldings } from '../restore/ledger.ts'
import { addUsers, writeWidePlan } from '../restore/users.ts'
import {
  type Acknowledged,
  BEACON_CLIENTS,
  LOOKUP_CLIENTS,
  startWriters,
} from '../restore/writers.ts'
import { checkChanges } from './kill-oracle.ts'
import { askWith, type Change, startLives } from './lives.ts'

/*
 * Writes of every kind at once, and kill -9 in the middle of them, again and again on the same data:
 * after each, all that was acknowledged is there, once. Of look-ups, what the last flush has not
 * written is lost.
 */

const ROUNDS = 15
const USERS = 6
const ORIGIN = 'https://shop.example'
/** Twice what is between flushes: `metering.test.ts` holds them to the second, without other work. */
const LATE_MS = 2_000
/** Keys of earlier rounds that are tried again after each restart. */
const TRIED_AGAIN = 60

const { dataDir, settings: folder, remove } = newDataFolder()
after(remove)
const database = join(dataDir, 'app.db')
const plans = join(dataDir, 'plans.json')
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
  writeWidePlan(plans)
  keys.push(...(await addUsers(database, plans, USERS)))
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

  /** Revoked keys are refused, and the others let in. Returns when the latter were answered. */
  async function tryKeys(url: string): Promise<number[]> {
    const agent = new Agent({ keepAlive: true })
    const ask = createAsk(agent, url)
    const answeredAt: number[] = []
    for (const [name, text] of [...texts].slice(-TRIED_AGAIN)) {
      const { status, at } = await askWith(ask, text)
      assert.ok(mayBe(name).includes(status), `a key is answered ${status}`)
      if (status === 200) answeredAt.push(at)
    }
    agent.destroy()
    return answeredAt
  }

  /** What the key may be answered: a revocation without an answer has happened or not. */
  function mayBe(name: string): number[] {
    const revoking = changes.find(
      (change) => change.action === 'revoke_key' && change.name === name,
    )
    if (revoking === undefined) return [200]
    return revoking.isAcknowledged ? [401] : [200, 401]
  }

  /** A server with writers, until it is killed at a random moment. */
  async function work() {
    const server = await startServer(settings)
    try {
      const tried = await tryKeys(server.url)
      const writers = startWriters({ url: server.url, keys: keys.slice(3), origin: ORIGIN })
      const lives = startLives(server.url, keys.slice(0, 3))
      writers.acknowledged.lookups.push(...tried)
      await sleep(400 + 2_000 * Math.random())
      const killedAt = performance.now()
      await server.stop('SIGKILL')
      await Promise.all([writers.ended, lives.ended])
      return { writers, lives, killedAt }
    } finally {
      await server.stop('SIGKILL')
    }
  }

  for (let round = 1; round <= ROUNDS; round++) {
    it(`loses nothing that was acknowledged, and has nothing twice: round ${round}`, async (t) => {
      const earlier = readHoldings(database)
      const { writers, lives, killedAt } = await work()
      assert.deepEqual([...writers.acknowledged.others, ...lives.others], [])
      checkCounts(earlier, readHoldings(database), writers.acknowledged, killedAt)
      changes.push(...lives.changes)
      for (const [name, text] of lives.texts) texts.set(name, text)
      checkChanges(database, changes)
      t.diagnostic(tell(writers.acknowledged, lives.changes))
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

function tell(acknowledged: Acknowledged, changes: readonly Change[]): string {
  const done = changes.filter(({ isAcknowledged }) => isAcknowledged).length
  const { keys: made, sites, beacons, lookups } = acknowledged
  const counts = { changes: done + made.length + sites.length, beacons: beacons.length }
  return JSON.stringify({ ...counts, lookups: lookups.length, open: changes.length - done })
}
