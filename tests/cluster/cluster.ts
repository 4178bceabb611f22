import assert from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { falseClock } from '../limits/false-clock.ts'
import { type PostgresServer, query, startPostgres } from '../support/database/postgres-server.ts'
import { newDataFolder, type Running, type Settings, startServer } from '../support/process.ts'
import { openWire, type Wire } from './wire.ts'

/** A node that the test stops, cuts off or kills is expected to be up to date again this long afterwards. */
const RECOVERY_MS = 3_000
/** After this long, a node gives up connections that do not answer. */
const STALLED_MS = 6_000
/** The clocks of nodes are a minute apart. */
const CLOCKS = ['+0', '+60s', '-60s']

/** A server process that clients ask, or several one after the other. */
export interface LoadedNode {
  readonly name: string
  /** The address of the process that runs, or ran last. */
  url: string
  server: Running | undefined
  /** How many faults the node has had, and how many of them may still affect it. */
  faults: number
  openFaults: number
}

/** The servers that clients ask. */
export interface LoadedNodes {
  readonly nodes: readonly LoadedNode[]
  nodeAt(index: number): LoadedNode
}

/** A server that the test can disturb. */
export interface ClusterNode extends LoadedNode {
  readonly settings: Settings
  /** Its network to the database. */
  readonly wire: Wire
}

/** When a node was killed, on the clock of `performance.now()`. */
export interface Kill {
  readonly node: ClusterNode
  readonly at: number
}

/** Server processes on one PostgreSQL, and faults for them. */
export interface Cluster extends AsyncDisposable {
  readonly database: PostgresServer
  readonly nodes: readonly ClusterNode[]
  readonly kills: readonly Kill[]
  /** Starts or restarts the process of a node. */
  start(node: ClusterNode): Promise<void>
  /** Ends the process at once. */
  kill(node: ClusterNode): Promise<void>
  /** Cuts all connections of the node to the database. */
  cut(node: ClusterNode): Promise<void>
  /** Holds back all bytes between the node and the database for some time, without closing a connection. */
  stall(node: ClusterNode, ms: number): Promise<void>
  /** Silences the present connections of the node to the database for good, without closing them. */
  forget(node: ClusterNode): Promise<void>
  /** Stops the process for some time, after which it continues. */
  pause(node: ClusterNode, ms: number): Promise<void>
  /** Ends all processes of PostgreSQL at once, and starts it again after some time. */
  crashDatabase(downMs: number): Promise<void>
  nodeAt(index: number): ClusterNode
}

/** Starts PostgreSQL and prepares the nodes. `prepare` is called with the database before they start. */
export async function openCluster(
  count: number,
  settings: Settings,
  prepare: (url: string) => Promise<void>,
): Promise<Cluster> {
  await using opening = new AsyncDisposableStack()
  const database = opening.use(await startPostgres())
  const url = await database.createDatabase()
  await prepare(url)
  const nodes = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const { dataDir, settings: folder, remove } = newDataFolder()
      opening.defer(remove)
      const wire = opening.use(await openWire(Number(new URL(url).port)))
      const clock = falseClock(join(dataDir, 'clock'), CLOCKS[index % CLOCKS.length])
      return newNode(`node-${index + 1}`, url, { ...folder, ...clock, ...settings }, wire)
    }),
  )
  opening.defer(async () => {
    for (const { server } of nodes) await server?.stop('SIGKILL')
  })
  await Promise.all(nodes.map(start))
  const opened = opening.move()
  return { ...openFaults(nodes, database), [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

function newNode(name: string, url: string, settings: Settings, wire: Wire): ClusterNode {
  const database = new URL(url)
  database.port = String(wire.port)
  // `cut` finds the connections of the node by this name.
  database.searchParams.set('application_name', name)
  const all = { ...settings, MERIDIAN_DATABASE_URL: database.href }
  return { name, url: '', server: undefined, faults: 0, openFaults: 0, settings: all, wire }
}

async function start(node: ClusterNode): Promise<void> {
  const server = await startServer(node.settings)
  node.server = server
  node.url = server.url
}

function openFaults(nodes: readonly ClusterNode[], database: PostgresServer) {
  const kills: Kill[] = []
  return {
    database,
    nodes,
    kills,
    start,
    kill: async (node: ClusterNode) => {
      kills.push({ node, at: performance.now() })
      await node.server?.stop('SIGKILL')
      node.server = undefined
    },
    cut: (node: ClusterNode) =>
      disturb([node], () =>
        query(
          database.url,
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '${node.name}'`,
        ),
      ),
    stall: (node: ClusterNode, ms: number) =>
      disturb([node], async () => {
        node.wire.stall()
        await sleep(ms)
        node.wire.resume()
      }),
    forget: (node: ClusterNode) =>
      disturb([node], async () => {
        node.wire.forget()
        await sleep(STALLED_MS)
      }),
    pause: (node: ClusterNode, ms: number) =>
      disturb([node], async () => {
        const { pid } = node.server ?? assert.fail(`${node.name} does not run`)
        process.kill(pid, 'SIGSTOP')
        await sleep(ms)
        process.kill(pid, 'SIGCONT')
      }),
    crashDatabase: (downMs: number) =>
      disturb(nodes, async () => {
        await database.stop()
        await sleep(downMs)
        await database.start()
      }),
    nodeAt: (index: number) => nodes[index % nodes.length] ?? assert.fail('there are no nodes'),
  }
}

/** Marks the nodes during a fault and for some time afterwards. Resolves when the fault has ended. */
export async function disturb(
  nodes: readonly LoadedNode[],
  fault: () => Promise<unknown>,
): Promise<void> {
  for (const node of nodes) {
    node.faults += 1
    node.openFaults += 1
  }
  await fault()
  setTimeout(() => {
    for (const node of nodes) node.openFaults -= 1
  }, RECOVERY_MS).unref()
}
