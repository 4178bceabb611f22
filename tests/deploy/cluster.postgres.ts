import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import { type RunningProxy, startConfigured } from '../parts/net/proxies.ts'
import { lockTable, startPostgres } from '../support/database/postgres-server.ts'
import { newDataFolder, type Running, startServer } from '../support/process.ts'
import { tempFolder } from '../support/temp-folder.ts'

/*
 * Servers on one PostgreSQL, behind the balancer of deploy/haproxy.cfg. The test puts their addresses into a copy of
 * that file.
 */

const NODES = 3
const CLIENTS = 8
/** The balancer gives up a server after two checks that fail. */
const CHECKS = 5
const CONFIG = readFileSync(new URL('../../deploy/haproxy.cfg', import.meta.url), 'utf8')

interface Node {
  readonly settings: Readonly<Record<string, string>>
  server: Running
}

const opened = new AsyncDisposableStack()
const folder = tempFolder()
let balancer: RunningProxy
let databaseUrl: string
let nodes: Node[]
let key: string

before(async () => {
  const postgres = opened.use(await startPostgres())
  databaseUrl = await postgres.createDatabase()
  const shared = {
    MERIDIAN_DATABASE_URL: databaseUrl,
    MERIDIAN_SECRET: 'a phrase that nobody guesses '.repeat(2),
    MERIDIAN_TRUSTED_PROXIES: '127.0.0.1',
    MERIDIAN_DRAIN_SECONDS: '4',
    MERIDIAN_PLANS: writePlans(),
  }
  nodes = await Promise.all(
    Array.from({ length: NODES }, async () => {
      const { settings: own, remove } = newDataFolder()
      const settings = { ...own, ...shared, PORT: String(await findFreePort()) }
      const node = { settings, server: await startServer(settings) }
      opened.defer(async () => {
        await node.server.stop('SIGKILL')
        remove()
      })
      return node
    }),
  )
  balancer = await startBalancer(nodes.map(({ settings }) => Number(settings['PORT'])))
  opened.defer(() => balancer.stop())
  key = await makeKey(balancer.url)
})
after(() => opened.disposeAsync())

/** A free plan whose limits nobody reaches. */
function writePlans(): string {
  const file = join(folder, 'plans.json')
  const limits = { monthlyCap: 1e9, requestsPerMinute: 1e6, maxKeys: 10, maxSites: 10 }
  writeFileSync(file, JSON.stringify([{ id: 'free', name: 'Free', price: 0, ...limits }]))
  return file
}

async function startBalancer(ports: readonly number[]): Promise<RunningProxy> {
  const lines = ports.map(
    (port, at) => `  server node${at} 127.0.0.1:${port} check inter 1s fall 2 rise 1`,
  )
  const template = /^ {2}server-template meridian .* (check inter 1s fall 2 rise 1) .*$/m
  assert.match(CONFIG, template)
  const port = await findFreePort()
  const local = `bind 127.0.0.1:${port}`
  const config = CONFIG.replace(template, lines.join('\n')).replace('bind :8787', local)
  return startConfigured('haproxy', config, { port, folder })
}

const Session = v.object({ token: v.string() })
const Created = v.object({ rawKey: v.string() })

async function makeKey(url: string): Promise<string> {
  const post = async (path: string, body: object, headers = {}) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    }
    return (await fetch(`${url}${path}`, init)).json()
  }
  const user = { name: 'Ada', email: 'ada@example.com', password: crypto.randomUUID() }
  const { token } = v.parse(Session, await post('/api/auth/sign-up/email', user))
  const headers = { authorization: `Bearer ${token}` }
  const created = await post('/v1/account/me/keys', { name: 'cluster' }, headers)
  return v.parse(Created, created).rawKey
}

/** Looks an address up through the balancer again and again during `work`. Returns how often each came of it. */
async function lookUpDuring(work: () => Promise<void>): Promise<Record<string, number>> {
  let isRunning = true
  const outcomes: Record<string, number> = {}
  const client = async () => {
    while (isRunning) {
      const outcome = await lookUp()
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1
    }
  }
  const clients = Array.from({ length: CLIENTS }, client)
  try {
    await work()
  } finally {
    isRunning = false
    await Promise.all(clients)
  }
  return outcomes
}

async function lookUp(): Promise<string> {
  try {
    const headers = { 'x-api-key': key }
    const answer = await fetch(`${balancer.url}/v1/ip/81.2.69.160`, { headers })
    const isRight = (await answer.text()).includes('"code":"GB"')
    return isRight ? String(answer.status) : `${answer.status} without the country`
  } catch {
    return 'closed'
  }
}

async function restart(node: Node): Promise<void> {
  node.server = await startServer(node.settings)
  while ((await fetch(`${node.server.url}/health/ready`)).status !== 200);
}

/** Waits until each server has answered some more checks of the balancer. */
async function waitForChecks(): Promise<void> {
  const count = ({ server }: Node) => server.output().split('"route":"/health/ready"').length
  const wanted = nodes.map((node) => count(node) + CHECKS)
  while (!nodes.every((node, at) => count(node) >= (wanted[at] ?? 0))) await sleep(100)
}

function assertAllRight({ 200: right, ...others }: Record<string, number>): void {
  assert.deepEqual(others, {})
  assert.ok(Number(right) > 100, `${right} look-ups`)
}

describe('servers behind the balancer', () => {
  it('are replaced one by one without a failed look-up', async () => {
    const outcomes = await lookUpDuring(async () => {
      for (const node of nodes) {
        const { code, stderr } = await node.server.stop('SIGTERM')
        assert.deepEqual([code, stderr], [0, ''])
        await restart(node)
      }
    })
    assertAllRight(outcomes)
  })

  it('answer look-ups although one of them is killed', async () => {
    const [node] = nodes
    assert.ok(node)
    const outcomes = await lookUpDuring(async () => {
      await node.server.stop('SIGKILL')
      await restart(node)
    })
    assertAllRight(outcomes)
  })

  it('answer look-ups although PostgreSQL does not answer their health checks', async () => {
    await using _lock = await lockTable(databaseUrl, 'health')
    assertAllRight(await lookUpDuring(waitForChecks))
  })
})
