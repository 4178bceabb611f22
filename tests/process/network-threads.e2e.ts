import assert from 'node:assert/strict'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import Sqlite from 'better-sqlite3'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { plansFileOf } from '../support/plans-file.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'
import { RUNTIME } from '../support/runtime.ts'
import {
  assertRevokes,
  assertTenAMinute,
  CONNECTIONS,
  close,
  lookUpOnAll,
  openMany,
} from './many-connections.ts'

const IS_NODE = basename(RUNTIME[0]) === 'node'
const limits = { monthlyCap: 100_000, requestsPerMinute: 600_000, maxKeys: 10, maxSites: 10 }
const { dataDir, settings: folder, remove } = newDataFolder()
after(remove)
const settings = {
  ...folder,
  MERIDIAN_NODES: '3',
  MERIDIAN_ADMIN_PORT: '0',
  MERIDIAN_PLANS: plansFileOf([
    { id: 'wide', name: 'wide', price: 1, ...limits },
    { id: 'capped', name: 'capped', price: 2, ...limits, monthlyCap: 50 },
  ]),
}

/** Makes a user of the plan. Returns a key with full access. */
async function makeKey(plan: string, email = `${plan}@example.com`): Promise<string> {
  const options = ['scripts/key.ts', '--email', email, '--name', plan]
  const { stdout } = await runScript(options, settings)
  const changed = await runScript(['scripts/user.ts', '--email', email, '--plan', plan], settings)
  assert.equal(changed.code, 0, changed.stderr)
  return stdout.trim()
}

/** The settings of a data folder of its own. */
function newFolder() {
  const own = newDataFolder()
  after(own.remove)
  return own.settings
}

/** The requests of the user that are on disk. */
function countedRequests(email: string): number {
  const db = new Sqlite(join(dataDir, 'app.db'), { readonly: true })
  const sql = `SELECT sum(look_ups) FROM usage_by_operation
    WHERE user_id = (SELECT id FROM users WHERE email = ?)`
  try {
    return Number(db.prepare(sql).pluck().get(email))
  } finally {
    db.close()
  }
}

async function scrape(server: Running): Promise<string> {
  const url = /^Operators +(\S+)$/m.exec(server.output())?.[1]
  return (await fetch(url ?? '')).text()
}

/** How many look-ups the metrics say were answered with 200. */
function timedLookUps(metrics: string): number {
  const line = /^http_server_request_duration_seconds_count\{.*ipAddress.*code="200"\} (\d+)$/m
  return Number(line.exec(metrics)?.[1])
}

describe('a server with MERIDIAN_NODES', { skip: !IS_NODE }, () => {
  let server: Running
  let key: string
  before(async () => {
    key = await makeKey('wide')
    server = await startServer(settings)
  })
  after(async () => {
    const { code, stderr } = await server.stop('SIGTERM')
    assert.deepEqual([code, stderr], [0, ''])
  })

  it('counts, times and logs the look-ups of all threads', async () => {
    const connections = await openMany(server.url)
    const asked = CONNECTIONS * 100
    assert.deepEqual(await lookUpOnAll(connections, key, 100), { 200: asked })
    while (timedLookUps(await scrape(server)) < asked) await sleep(50)
    assert.equal(timedLookUps(await scrape(server)), asked)
    const logged = () => server.output().split('"route":"/v1/ip/{ipAddress}"').length - 1
    while (logged() < asked) await sleep(50)
    assert.equal(logged(), asked)
    const headers = { 'x-api-key': key }
    const answer = await fetch(`${server.url}/v1/account/me/usage`, { headers })
    const usage = await answer.json()
    assert.equal(Object(usage).totalRequests, asked)
    close(connections)
  })

  it('allows no more requests than the plan, and no fewer', async () => {
    const limited = await makeKey('free')
    const counts = await assertTenAMinute(server.url, limited, { ahead: 0 })
    assert.equal((counts[200] ?? 0) + (counts[429] ?? 0), CONNECTIONS * 5)
  })

  it('answers no look-up in full after the cap', async () => {
    const capped = await makeKey('capped')
    const connections = await openMany(server.url)
    let inFull = 0
    for (let round = 0; round < 5; round++) {
      await lookUpOnAll(connections, capped, 1)
    }
    for (const { received, socket } of connections) {
      inFull += received().split('"degraded":false').length - 1
      socket.destroy()
    }
    assert.equal(inFull, 50)
  })

  it('refuses a revoked key on every connection as soon as its revocation is answered', () =>
    assertRevokes(server.url, key))

  it('answers every request that it accepts while it starts', async () => {
    const port = await findFreePort()
    const starting = startServer({ ...settings, ...newFolder(), PORT: String(port) })
    let isStarted = false
    const started = starting.then(() => {
      isStarted = true
    })
    while (!isStarted) {
      // Refused until it listens.
      const page = { headers: { accept: 'text/html' } }
      const answer = await fetch(`http://127.0.0.1:${port}/nowhere`, page).catch(() => null)
      assert.ok([undefined, 404, 429].includes(answer?.status), `${answer?.status}`)
      await answer?.text()
      await sleep(5)
    }
    await started
    const { stderr } = await (await starting).stop('SIGTERM')
    assert.equal(stderr, '')
  })

  it('loses no count that is on disk when it is killed, and none at all when it stops', async () => {
    const email = 'counted@example.com'
    const counted = await makeKey('wide', email)
    const asked = CONNECTIONS * 20
    assert.deepEqual(await lookUpOnAll(await openMany(server.url), counted, 20), { 200: asked })
    while (countedRequests(email) < asked) await sleep(50)
    await server.stop('SIGKILL')
    assert.equal(countedRequests(email), asked)
    server = await startServer(settings)
    assert.deepEqual(await lookUpOnAll(await openMany(server.url), counted, 20), { 200: asked })
    await server.stop('SIGTERM')
    assert.equal(countedRequests(email), 2 * asked)
    server = await startServer(settings)
  })
})

describe('a server with MERIDIAN_NODES on another runtime', { skip: IS_NODE }, () => {
  it('does not start, and says why', async () => {
    const { code, stderr } = await runScript(['server.ts'], settings)
    assert.equal(code, 1)
    assert.match(stderr, /Cannot use MERIDIAN_NODES on (Bun|Deno)/)
  })
})
