import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type PostgresServer, query, startPostgres } from '../support/database/postgres-server.ts'
import { newDataFolder, type Running, type Settings, startServer } from '../support/process.ts'

/** A node that the test stops, cuts off or kills is expected to be up to date again this long afterwards. */
const RECOVERY_MS = 3_000

/** A server process, or several one after the other. */
export interface ClusterNode {
  readonly name: string
  /** Of the process that runs, or ran last. */
  url: string
  server: Running | undefined
  /** How many faults the node has met, and how many of them it may still notice. */
  faults: number
  openFaults: number
  readonly settings: Settings
}

/** When a node was killed, on the clock of `performance.now()`. */
export interface Kill {
  readonly node: ClusterNode
  readonly at: number
}

/** Server processes on one PostgreSQL, and faults for them. */
export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly ClusterNode[]
  readonly kills: readonly Kill[]
  /** Starts or restarts the process of a node. */
  start(node: ClusterNode): Promise<void>
  /** Ends the process at once. */
  kill(node: ClusterNode): Promise<void>
  /** Cuts all connections of the node to the database. */
  cut(node: ClusterNode): Promise<void>
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
  const nodes = Array.from({ length: count }, (_, index) => {
    const { settings: folder, remove } = newDataFolder()
    opening.defer(remove)
    return newNode(`node-${index + 1}`, url, { ...folder, ...settings })
  })
  opening.defer(async () => {
    for (const { server } of nodes) await server?.stop('SIGKILL')
  })
  await Promise.all(nodes.map(start))
  const opened = opening.move()
  return { ...openFaults(nodes, database), [Symbol.asyncDispose]: () => opened.disposeAsync() }
}

function newNode(name: string, url: string, settings: Settings): ClusterNode {
  const database = new URL(url)
  // So that the connections of one node can be told apart.
  database.searchParams.set('application_name', name)
  const all = { ...settings, MERIDIAN_DATABASE_URL: database.href }
  return { name, url: '', server: undefined, faults: 0, openFaults: 0, settings: all }
}

async function start(node: ClusterNode): Promise<void> {
  const server = await startServer(node.settings)
  node.server = server
  node.url = server.url
}

function openFaults(nodes: readonly ClusterNode[], database: PostgresServer) {
  const kills: Kill[] = []
  return {
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
async function disturb(nodes: readonly ClusterNode[], fault: () => Promise<void>): Promise<void> {
  for (const node of nodes) {
    node.faults += 1
    node.openFaults += 1
  }
  await fault()
  setTimeout(() => {
    for (const node of nodes) node.openFaults -= 1
  }, RECOVERY_MS).unref()
}
