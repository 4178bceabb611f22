import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { RumSummary } from '../../../lib/contract/telemetry/telemetry-schemas.ts'
import { openDb } from '../../../lib/db/open.ts'
import { newDataFolder, runScript, startServer } from '../../support/process.ts'

// run: only on Node.js

/* Kills the process under load: each beacon answered 204 must be counted exactly once. */

const ROUNDS = 10
const CLIENTS = 32
const PAST_CHECKPOINT_MS = 10_500
/** Each page has its own row, so that a checkpoint takes many transactions. */
const PAGES = 450
const ORIGIN = 'https://shop.example'
const { settings: folder, dataDir, remove } = newDataFolder()
/** Each beacon comes from another address, since beacons are limited per address. */
const settings = { ...folder, MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }
after(remove)

let key: string
before(async () => {
  const args = [
    'scripts/key.ts',
    '--email',
    'ada@example.com',
    '--name',
    'load',
    '--plan',
    'pro',
    '--scopes',
    'all',
  ]
  key = (await runScript(args, settings)).stdout.trim()
})

interface BeaconLoad {
  /** Beacons answered 204. */
  stored: number
  /** Beacons without a complete answer, which may or may not be stored. */
  open: number
  readonly others: (number | string)[]
}

/** Runs clients that send one beacon after another until the server is gone. */
async function sendUntilGone(url: string, load: BeaconLoad): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const client = async (number: number) => {
    for (let n = 0; ; n++) {
      const path = `/p${(number + CLIENTS * n) % PAGES}`
      const status = await send(agent, url, {
        from: `10.${number}.${(n >> 8) & 255}.${n & 255}`,
        body: `{"path":"${path}","deviceType":"mobile","metrics":{"lcp":1200,"cls":0}}`,
      })
      if (status === 204) load.stored += 1
      else load.others.push(status)
      if (typeof status !== 'string') continue
      load.open += 1
      return
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
  agent.destroy()
}

/**
 * Reading an overview starts a checkpoint, so the kill may come before it, between two of its
 * transactions, or after it.
 */
async function readOverviewsFor(url: string, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    await sleep(Math.min(300 * Math.random(), end - performance.now()))
    const answer = await call(`${url}/v1/telemetry/rum/overview?domain=shop.example`)
    assert.equal(answer.status, 200)
    await answer.text()
  }
}

interface Sent {
  readonly from: string
  readonly body: string
}

/** Returns the status of a complete answer, or the error message. */
function send(agent: Agent, url: string, { from, body }: Sent): Promise<number | string> {
  return new Promise((resolve) => {
    const fail = (error: Error) => resolve(error.message)
    const read = (answer: IncomingMessage) => {
      answer.on('error', fail)
      answer.on('end', () => resolve(answer.complete ? (answer.statusCode ?? 0) : 'cut off'))
      answer.resume()
    }
    const headers = { origin: ORIGIN, 'x-forwarded-for': from }
    request(`${url}/v1/telemetry/rum`, { method: 'POST', agent, headers }, read)
      .on('error', fail)
      .end(body)
  })
}

async function call(url: string, init: RequestInit = {}): Promise<Response> {
  return fetch(url, { ...init, headers: { 'x-api-key': key } })
}

async function samples(url: string): Promise<number> {
  const answer = await call(`${url}/v1/telemetry/rum/summary?domain=shop.example`)
  assert.equal(answer.status, 200)
  const { metrics } = v.parse(RumSummary, await answer.json())
  return metrics.reduce((sum, { sampleCount }) => sum + sampleCount, 0)
}

/** The number of beacons in each table. No server may be running. */
function countStored(): unknown {
  const db = openDb(join(dataDir, 'app.db'))
  const counts = `SELECT (SELECT sum(samples) FROM rum_hours) AS hours,
    (SELECT sum(samples) FROM rum_sketches) AS sketches, (SELECT sum(samples) FROM rum_days) AS days,
    (SELECT sum(samples) FROM rum_pages) AS paths,
    (SELECT sum(count) FROM rum_counts WHERE label = 'accepted') AS accepted`
  const row = db.$client.prepare(counts).get()
  db.$client.close()
  return row
}

describe('kill -9 under a load of beacons', () => {
  before(async () => {
    const server = await startServer(settings)
    const body = JSON.stringify({ name: ORIGIN })
    const added = await call(`${server.url}/v1/account/me/sites`, { method: 'POST', body })
    assert.equal(added.status, 201)
    await server.stop('SIGTERM')
  })

  let earlier = 0
  for (let round = 1; round <= ROUNDS; round++) {
    it(`loses no answered beacon, and counts none twice: round ${round}`, async () => {
      const server = await startServer(settings)
      assert.equal(await samples(server.url), earlier)
      const load: BeaconLoad = { stored: 0, open: 0, others: [] }
      const sending = sendUntilGone(server.url, load)
      await readOverviewsFor(
        server.url,
        round % 5 === 0 ? PAST_CHECKPOINT_MS : 500 + 3_000 * Math.random(),
      )
      // On a busy machine the first answers take longer than that.
      while (load.stored <= 100) await sleep(10)
      await server.stop('SIGKILL')
      await sending
      const again = await startServer(settings)
      const counted = (await samples(again.url)) - earlier
      await again.stop(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
      assert.ok(load.stored > 100, `only ${load.stored}: ${load.others.slice(0, 3)}`)
      assert.ok(counted >= load.stored, `${load.stored - counted} of ${load.stored} are lost`)
      assert.ok(counted <= load.stored + load.open, `${counted} of ${load.stored} + ${load.open}`)
      earlier += counted
      const [hours, sketches, days, paths, accepted] = Array(5).fill(earlier)
      assert.deepEqual(countStored(), { hours, sketches, days, paths, accepted })
    })
  }
})
