import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { type PostgresServer, startPostgres } from '../support/database/postgres-server.ts'
import { plansFileOf } from '../support/plans-file.ts'
import { newDataFolder, type Running, runScript, startServer } from '../support/process.ts'
import { assertTenAMinute, CONNECTIONS, close, lookUpOnAll, openMany } from './many-connections.ts'

const PROCESSES = 3
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
  const made = await runScript(['scripts/key.ts', '--email', email, '--name', plan], settings)
  const changed = await runScript(['scripts/user.ts', '--email', email, '--plan', plan], settings)
  assert.equal(changed.code, 0, changed.stderr)
  return made.stdout.trim()
}

/** The process IDs of the further processes. */
function furtherProcesses({ pid }: Running): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const all = text.trim().split(' ').map(Number)
  assert.equal(all.length, PROCESSES - 1, text)
  return all
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

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0)

async function usage({ url }: Running): Promise<number> {
  const answer = await fetch(`${url}/v1/account/me/usage`, { headers: { 'x-api-key': key } })
  return Object(await answer.json()).totalRequests
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
})

describe('the processes of a server with MERIDIAN_NODES', { timeout: 200_000 }, () => {
  it('all answer until the drain after SIGTERM is over, and then all end', async () => {
    const server = await startServer({ ...settings, MERIDIAN_DRAIN_SECONDS: '1' })
    const others = furtherProcesses(server)
    const connections = await openMany(server.url)
    const before = await usage(server)
    assert.deepEqual(await lookUpOnAll(connections, key, 1), { 200: CONNECTIONS })
    const stopped = server.stop('SIGTERM')
    const health = async () => Object(await (await fetch(`${server.url}/health`)).json()).status
    while ((await health()) !== 'degraded') await sleep(10)
    // Until the drain ends, requests are answered everywhere.
    assert.deepEqual(await lookUpOnAll(connections, key, 1), { 200: CONNECTIONS })
    const { code, stderr } = await stopped
    assert.deepEqual([code, stderr], [0, ''])
    assert.deepEqual(others.filter(isRunning), [])
    const again = await startServer(settings)
    assert.equal(await usage(again), before + 2 * CONNECTIONS)
    await again.stop('SIGTERM')
  })

  it('all end, and the first says why, if one ends', async () => {
    const server = await startServer(settings)
    const [killed = 0, other = 0] = furtherProcesses(server)
    process.kill(killed, 'SIGKILL')
    const { code, stderr } = await server.ended
    assert.equal(code, 1)
    assert.match(stderr, /A process has ended: node 2 has ended with SIGKILL/)
    while (isRunning(other)) await sleep(20)
  })

  it('all end, and write their counts, if the first one is killed', async () => {
    const server = await startServer(settings)
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
    const again = await startServer(settings)
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
