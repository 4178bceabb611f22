import assert from 'node:assert/strict'
import { Agent, type IncomingMessage, request } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { RumSummary } from '../../lib/contract/telemetry-schemas.ts'
import { newDataFolder, runScript, startServer } from '../e2e/process.ts'

/* Beacons that are answered 204, when the process is killed in the middle of its work. */

const ROUNDS = 10
const CLIENTS = 32
const PAST_CHECKPOINT_MS = 10_500
const ORIGIN = 'https://shop.example'
/** Each comes from another address, since those of one are limited. */
const { settings: folder, remove } = newDataFolder()
const settings = { ...folder, MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' }
after(remove)

let key: string
before(async () => {
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'load', '--plan', 'pro']
  key = (await runScript(args, settings)).stdout.trim()
})

interface BeaconLoad {
  /** Beacons answered 204. */
  stored: number
  /** Beacons without a whole answer: they may be stored or not. */
  open: number
  readonly others: (number | string)[]
}

/** Clients that send one beacon after the other until the server is gone. */
async function sendUntilGone(url: string, load: BeaconLoad): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const client = async (number: number) => {
    for (let n = 0; ; n++) {
      const status = await send(agent, url, `10.${number}.${(n >> 8) & 255}.${n & 255}`)
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

/** An overview writes what it is made from: so the kill may come before, in or after a checkpoint. */
async function sumUpFor(url: string, ms: number): Promise<void> {
  for (const end = performance.now() + ms; performance.now() < end; ) {
    await sleep(Math.min(300 * Math.random(), end - performance.now()))
    const answer = await call(`${url}/v1/telemetry/rum/overview?domain=shop.example`)
    assert.equal(answer.status, 200)
    await answer.text()
  }
}

/** The status of a whole answer, or what went wrong. */
function send(agent: Agent, url: string, from: string): Promise<number | string> {
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
      .end('{"path":"/a","deviceType":"mobile","metrics":{"lcp":1200,"cls":0}}')
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
    it(`loses none that was answered, and counts none twice: round ${round}`, async () => {
      const server = await startServer(settings)
      assert.equal(await samples(server.url), earlier)
      const load: BeaconLoad = { stored: 0, open: 0, others: [] }
      const sending = sendUntilGone(server.url, load)
      await sumUpFor(server.url, round % 5 === 0 ? PAST_CHECKPOINT_MS : 500 + 3_000 * Math.random())
      await server.stop('SIGKILL')
      await sending
      const again = await startServer(settings)
      const counted = (await samples(again.url)) - earlier
      await again.stop(round % 2 === 0 ? 'SIGKILL' : 'SIGTERM')
      assert.ok(load.stored > 100, `only ${load.stored}: ${load.others.slice(0, 3)}`)
      assert.ok(counted >= load.stored, `${load.stored - counted} of ${load.stored} are lost`)
      assert.ok(counted <= load.stored + load.open, `${counted} of ${load.stored} + ${load.open}`)
      earlier += counted
    })
  }
})
