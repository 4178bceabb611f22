import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import { after, before, describe, it, type TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../../../scripts/parts/start-process.ts'
import {
  assertRevokes,
  assertTenAMinute,
  CONNECTIONS,
  close,
  lookUpOnAll,
  openMany,
} from '../../main/many-connections.ts'
import {
  openTestPool,
  type PostgresServer,
  startPostgres,
} from '../../support/database/postgres-server.ts'
import { plansFileOf } from '../../support/plans-file.ts'
import { newDataFolder, type Running, runScript, startServer } from '../../support/process.ts'

const PROCESSES = 3
/** Longer than the time within which two signals count as one. The second signal ends the drain. */
const NEXT_SIGNAL_MS = 1_200
const limits = { monthlyCap: 100_000, requestsPerMinute: 600_000, maxKeys: 10, maxSites: 10 }
const { settings: folder, remove } = newDataFolder()
let postgres: PostgresServer
let settings: Record<string, string>
let key: string

before(async () => {
  postgres = await startPostgres()
  settings = {
    ...folder,
    MERIDIAN_DATABASE_URL: await postgres.createDatabase(),
    MERIDIAN_SECRET: 'a phrase that nobody guesses '.repeat(2),
    MERIDIAN_NODES: String(PROCESSES),
    MERIDIAN_ADMIN_PORT: '0',
    MERIDIAN_PLANS: plansFileOf([{ id: 'wide', name: 'wide', price: 1, ...limits }]),
  }
  key = await makeKey('wide')
})
after(async () => {
  await postgres[Symbol.asyncDispose]()
  remove()
})

/** Makes a user of the plan. Returns a key with full access. */
async function makeKey(plan: string): Promise<string> {
  const email = `${plan}@example.com`
  const args = ['scripts/key.ts', '--email', email, '--name', plan, '--scopes', 'all']
  const made = await runScript(args, settings)
  const changed = await runScript(['scripts/user.ts', '--email', email, '--plan', plan], settings)
  assert.equal(changed.code, 0, changed.stderr)
  return made.stdout.trim()
}

/** The process IDs of the further processes. The first one also starts others, such as esbuild's. */
function furtherProcesses({ pid }: Running): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.trim().split(' ').filter(Boolean).map(Number).filter(servesRequests)
}

function servesRequests(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('node-process')
  } catch {
    // It has ended meanwhile.
    return false
  }
}

/** Starts the server. It ends with the test, also if that fails: the next one uses the same data folder. */
async function startFor(test: TestContext, own = settings): Promise<Running> {
  const server = await startServer(own)
  test.after(() => server.stop('SIGKILL'))
  return server
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** How many look-ups each node has logged. */
function loggedLookUps({ output }: Running): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const [, node = ''] of output().matchAll(/^\{"node":(\d+),.*"\/v1\/ip\/\{ipAddress\}"/gm)) {
    counts[node] = (counts[node] ?? 0) + 1
  }
  return counts
}

async function untilLogged({ output }: Running, line: RegExp): Promise<void> {
  while (!line.test(output())) await sleep(20)
}

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)

async function usage({ url }: Running): Promise<number> {
  const answer = await fetch(`${url}/v1/account/me/usage`, { headers: { 'x-api-key': key } })
  return Object(await answer.json()).totalRequests
}

const ORIGIN = 'https://shop.example'

async function addSite({ url }: Running): Promise<void> {
  const headers = { 'x-api-key': key, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: ORIGIN })
  const { status } = await fetch(`${url}/v1/account/me/sites`, { method: 'POST', headers, body })
  assert.equal(status, 201)
}

/** Sends a beacon on a new connection. Returns the status. */
async function sendBeacon({ url }: Running): Promise<number | undefined> {
  const headers = { origin: ORIGIN }
  const sent = request(`${url}/v1/telemetry/rum`, { method: 'POST', headers, agent: false })
  sent.end(JSON.stringify({ path: '/', deviceType: 'mobile', metrics: { lcp: 1_200 } }))
  const [answer]: IncomingMessage[] = await once(sent, 'response')
  answer?.resume()
  return answer?.statusCode
}

/** The beacons in the rows that summaries are made from. */
async function summedBeacons(): Promise<number> {
  await using pool = openTestPool(settings['MERIDIAN_DATABASE_URL'] ?? '', 1)
  const sql = 'SELECT sum(samples) FROM rum_days'
  const { rows } = await pool.use((connection) => connection.query(sql))
  return Number(rows[0]?.[0])
}

/** The numbers of look-ups in the metrics of each process. */
async function measured({ output }: Running): Promise<number[]> {
  const urls = [...output().matchAll(/^Operators +(\S+)$/gm)].map(([, url = '']) => url)
  return Promise.all(
    urls.map(async (url) => {
      const text = await (await fetch(url)).text()
      const line = /^http_server_request_duration_seconds_count\{.*ipAddress.*code="200"\} (\d+)$/m
      return Number(line.exec(text)?.[1] ?? 0)
    }),
  )
}

describe('a server with MERIDIAN_NODES on PostgreSQL', { timeout: 200_000 }, () => {
  let server: Running
  before(async () => {
    server = await startServer(settings)
  })
  after(() => server.stop('SIGTERM'))

  it('answers in all processes, whose log lines name them, and counts all look-ups', async () => {
    const connections = await openMany(server.url)
    const asked = CONNECTIONS * 20
    assert.deepEqual(await lookUpOnAll(connections, key, 20), { 200: asked })
    while (sum(loggedLookUps(server)) < asked) await sleep(50)
    const logged = loggedLookUps(server)
    assert.deepEqual(Object.keys(logged), ['1', '2', '3'])
    assert.deepEqual(await measured(server), Object.values(logged))
    let counted = await usage(server)
    // A process learns what others have counted once they have written it.
    for (; counted < asked; counted = await usage(server)) await sleep(50)
    assert.equal(counted, asked)
    close(connections)
  })

  it('shares the limits of callers', async () => {
    const limited = await makeKey('free')
    // One for each further node.
    await assertTenAMinute(server.url, limited, { ahead: PROCESSES - 1 })
  })

  it('refuses a revoked key in all processes once its revocation is answered', () =>
    assertRevokes(server.url, key, { longestMs: 500 }))
})

describe('the processes of a server with MERIDIAN_NODES', { timeout: 200_000 }, () => {
  it('all answer until the drain after SIGTERM is over, and then all end', async (t) => {
    const server = await startFor(t, { ...settings, MERIDIAN_DRAIN_SECONDS: '300' })
    const others = furtherProcesses(server)
    const connections = await openMany(server.url)
    const before = await usage(server)
    assert.deepEqual(await lookUpOnAll(connections, key, 1), { 200: CONNECTIONS })
    const stopped = server.stop('SIGTERM')
    // As a terminal and some supervisors do.
    for (const pid of others) process.kill(pid, 'SIGTERM')
    while ((await fetch(`${server.url}/health/ready`)).status === 200) await sleep(10)
    // Until the drain ends, requests are answered everywhere.
    assert.deepEqual(await lookUpOnAll(connections, key, 1), { 200: CONNECTIONS })
    await sleep(NEXT_SIGNAL_MS)
    process.kill(server.pid, 'SIGTERM')
    const { code, stderr } = await stopped
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(others.filter(isRunning), [])
    const again = await startFor(t)
    assert.equal(await usage(again), before + 2 * CONNECTIONS)
    await again.stop('SIGTERM')
  })

  it('go on without one that is killed, which is started again', async (t) => {
    const server = await startFor(t)
    const [killed = 0, other = 0] = furtherProcesses(server)
    const before = await usage(server)
    const connections = await openMany(server.url)
    await lookUpOnAll(connections, key, 1)
    while (sum(loggedLookUps(server)) < CONNECTIONS) await sleep(50)
    const { 2: ofKilled = 0 } = loggedLookUps(server)
    process.kill(killed, 'SIGKILL')
    const alive = () => connections.filter(({ socket }) => !socket.destroyed)
    while (alive().length > CONNECTIONS - ofKilled) await sleep(20)
    assert.deepEqual(await lookUpOnAll(alive(), key, 1), { 200: CONNECTIONS - ofKilled })
    await untilLogged(server, /^\{"node":1,.*"node 2: it has ended with SIGKILL"/m)
    let asked = 2 * CONNECTIONS - ofKilled
    // Until the new process answers, too.
    while (loggedLookUps(server)[2] === ofKilled) {
      const more = await openMany(server.url)
      assert.deepEqual(await lookUpOnAll(more, key, 1), { 200: CONNECTIONS })
      close(more)
      asked += CONNECTIONS
      while (sum(loggedLookUps(server)) < asked) await sleep(50)
    }
    const [first, second, ...rest] = furtherProcesses(server)
    assert.deepEqual([first, rest], [other, []])
    assert.notEqual(second, killed)
    // On the same ports for operators.
    assert.equal((await measured(server)).length, PROCESSES)
    const { code, stderr } = await server.stop('SIGTERM')
    assert.deepEqual([code, stderr], [0, ''])
    const again = await startFor(t)
    const counted = (await usage(again)) - before
    assert.ok(counted >= asked - ofKilled && counted <= asked, `${counted} of ${asked}`)
    await again.stop('SIGTERM')
  })

  it('lose no accepted beacon if one is killed', async (t) => {
    const server = await startFor(t)
    const [killed = 0] = furtherProcesses(server)
    await addSite(server)
    const answers = await Promise.all(Array.from({ length: CONNECTIONS }, () => sendBeacon(server)))
    process.kill(killed, 'SIGKILL')
    assert.deepEqual(new Set(answers), new Set([204]))
    // The others sum up its journal once they believe that it is dead.
    while ((await summedBeacons()) < CONNECTIONS) await sleep(200)
    await server.stop('SIGTERM')
    assert.equal(await summedBeacons(), CONNECTIONS)
  })

  it('end at a signal while one is started again', async (t) => {
    for (const others of [1, 2]) {
      const server = await startFor(t)
      const [killed = 0, other = 0] = furtherProcesses(server)
      process.kill(killed, 'SIGKILL')
      while (isRunning(killed)) await sleep(20)
      // With two, the new one is still loading its code.
      while (furtherProcesses(server).length < others) await sleep(20)
      const { code, stderr } = await server.stop('SIGTERM')
      assert.deepEqual([code, stderr, isRunning(other)], [0, '', false])
    }
  })

  it('all end, and write their counts, if the first one is killed', async (t) => {
    const server = await startFor(t)
    const before = await usage(server)
    const others = furtherProcesses(server)
    // The first process may lose what it has counted last.
    const connections = await openMany(server.url)
    await lookUpOnAll(connections, key, 1)
    while (sum(loggedLookUps(server)) < CONNECTIONS) await sleep(50)
    const { 1: ofFirst = 0 } = loggedLookUps(server)
    process.kill(server.pid, 'SIGKILL')
    await server.ended
    while (others.some(isRunning)) await sleep(20)
    await assert.rejects(fetch(server.url))
    const again = await startFor(t)
    assert.ok((await usage(again)) >= before + CONNECTIONS - ofFirst)
    await again.stop('SIGTERM')
  })

  it('do not start if one cannot, and the first says why', async () => {
    const port = await findFreePort()
    await using taken = createServer().listen(port + 1, '127.0.0.1')
    assert.ok(taken)
    const own = { ...settings, PORT: '0', MERIDIAN_GEO_ATLAS: '0', MERIDIAN_ADMIN_PORT: `${port}` }
    const { code, stderr } = await runScript(['server.ts'], own)
    assert.equal(code, 1)
    assert.match(stderr, /^Cannot start node 2: Cannot listen on .*EADDRINUSE/m)
  })
})
