import { Agent, type IncomingMessage, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { ApiKeyCreated, Site } from '../../lib/contract/account/account-schemas.ts'
import { ContactChallenge } from '../../lib/contract/contact.ts'
import { solveChallenge } from '../contact/solve-challenge.ts'
import type { LoadedNode, LoadedNodes } from './cluster.ts'
import type { Prepared } from './prepare.ts'

/** The answers that the clients of a cluster got. */
export interface Acknowledged {
  /** Look-ups answered 200. */
  readonly lookUps: { readonly node: LoadedNode; readonly at: number }[]
  /** Beacons answered 204. */
  beacons: number
  /** Keys answered 201, and which of them were revoked afterwards, by their ids. */
  readonly keys: Map<string, string>
  readonly revoked: Map<string, string>
  /** Keys whose revocation was not answered. */
  readonly unclear: Set<string>
  /** The ids of sites answered 201. */
  readonly sites: Set<string>
  /** The messages of inquiries answered 200. */
  readonly inquiries: Set<string>
  /** Look-ups answered 200 to a key of 10 requests a minute. */
  limited: number
  /**
   * Requests that may or may not have had an effect: those without a complete answer, and those answered 503,
   * since the connection to the database may have been lost while it committed.
   */
  readonly open: Record<'lookUps' | 'beacons' | 'keys' | 'sites' | 'inquiries', number>
  /** Answers that break a promise, in words, without the ids of the requests. */
  readonly broken: Set<string>
}

export function newRecord(): Acknowledged {
  const sets = {
    unclear: new Set<string>(),
    sites: new Set<string>(),
    inquiries: new Set<string>(),
  }
  const open = { lookUps: 0, beacons: 0, keys: 0, sites: 0, inquiries: 0 }
  const keys = { keys: new Map<string, string>(), revoked: new Map<string, string>() }
  return { lookUps: [], beacons: 0, limited: 0, broken: new Set(), open, ...keys, ...sets }
}

interface Load extends Pick<Prepared, 'owners' | 'narrow' | 'origin'> {
  readonly cluster: LoadedNodes
  readonly acknowledged: Acknowledged
}

/** The status is 0 if there is no complete answer, and -1 if the connection was refused. */
interface Reply {
  readonly status: number
  readonly text: string
}

interface Sent {
  readonly key?: string
  readonly origin?: string
  readonly body?: unknown
}

const LOOK_UP = '/v1/ip/81.2.69.160'
const KEYS = '/v1/account/me/keys'
const SITES = '/v1/account/me/sites'
const LONGEST_MS = 3_000
const LONGEST_WAIT_MS = 500
/** One in this many new keys is not revoked. */
const KEPT = 4
const agent = new Agent({ keepAlive: true })

/** Runs `work` while clients send one request after another to all nodes. */
export async function underLoad(load: Load, work: () => Promise<void>): Promise<void> {
  const ending = new AbortController()
  const repeat = async (pauseMs: number, step: (n: number) => Promise<unknown>) => {
    for (let n = 0; !ending.signal.aborted; n++) {
      await step(n)
      await sleep(pauseMs)
    }
  }
  const { owners, cluster } = load
  const clients = [0, 1, 2].flatMap((client) => [
    repeat(10, (n) => lookUp(load, cluster.nodeAt(n + client), owners[client] ?? '')),
    repeat(10, (n) => sendBeacon(load, cluster.nodeAt(n + client), 3 * n + client)),
    repeat(100, (n) => changeKeys(load, 3 * n + client)),
  ])
  clients.push(repeat(300, (n) => addSite(load, n)))
  clients.push(repeat(300, (n) => sendInquiry(load, n)))
  clients.push(repeat(1_500, (n) => sendTwice(load, n)))
  clients.push(repeat(100, (n) => countLimited(load, [cluster.nodeAt(n)])))
  try {
    await work()
  } finally {
    ending.abort()
    await Promise.all(clients)
  }
}

async function lookUp({ acknowledged }: Load, node: LoadedNode, key: string): Promise<Reply> {
  const reply = await send(node, 'GET', LOOK_UP, { key })
  if (reply.status === 200) acknowledged.lookUps.push({ node, at: performance.now() })
  else if (reply.status === 0) acknowledged.open.lookUps += 1
  else if (reply.status === 500) acknowledged.broken.add(`a look-up: 500 ${reply.text}`)
  return reply
}

async function sendBeacon(
  { acknowledged, origin }: Load,
  node: LoadedNode,
  n: number,
): Promise<void> {
  const body = { path: `/p${n % 50}`, deviceType: 'mobile', metrics: { lcp: 1_200, cls: 0 } }
  const { status, text } = await send(node, 'POST', '/v1/telemetry/rum', { origin, body })
  if (status === 204) acknowledged.beacons += 1
  else if (isOpen(status)) acknowledged.open.beacons += 1
  else if (status > 0) acknowledged.broken.add(`a beacon: ${status} ${text}`)
}

/** Creates a key, uses it on all nodes, and revokes it, unless it is one of those that stay. */
async function changeKeys(load: Load, n: number): Promise<void> {
  const { cluster, owners, acknowledged } = load
  const key = owners[n % owners.length] ?? ''
  const body = { name: 'made' }
  const isMade = startWait(cluster)
  const made = await send(cluster.nodeAt(n), 'POST', KEYS, { key, body })
  note(acknowledged, 'keys', made)
  if (made.status !== 201) return
  const { id, rawKey } = v.parse(ApiKeyCreated, JSON.parse(made.text))
  acknowledged.keys.set(id, rawKey)
  await askCalm(load, rawKey, 200, isMade())
  if (n % KEPT === 0) return
  const isRevoked = startWait(cluster)
  const { status, text } = await send(cluster.nodeAt(n + 1), 'DELETE', `${KEYS}/${id}`, { key })
  if (status !== 200) {
    acknowledged.unclear.add(id)
    if (![-1, 0, 503].includes(status)) acknowledged.broken.add(`a revocation: ${status} ${text}`)
    return
  }
  acknowledged.revoked.set(id, rawKey)
  await askCalm(load, rawKey, 401, isRevoked())
}

type Calm = ReadonlyMap<LoadedNode, number>

/** The nodes without a fault at the moment, and how many they have had. */
function calmNodes({ nodes }: LoadedNodes): Calm {
  const calm = nodes.filter(({ openFaults, server }) => openFaults === 0 && server !== undefined)
  return new Map(calm.map((node) => [node, node.faults]))
}

/**
 * Call it before a change of a key. Right after the answer, the function that it returns says which nodes
 * must know the change: none if the answer took half a second, since it waits no longer for other nodes.
 */
function startWait(cluster: LoadedNodes): () => Calm {
  const calm = calmNodes(cluster)
  const askedAt = performance.now()
  return () => (performance.now() - askedAt < LONGEST_WAIT_MS ? calm : new Map())
}

/** Looks up with the key on these nodes. One that has had a fault since may answer anything. */
async function askCalm(load: Load, key: string, wanted: 200 | 401, calm: Calm): Promise<void> {
  await Promise.all(
    [...calm].map(async ([node, faults]) => {
      const { status } = await lookUp(load, node, key)
      if (status <= 0 || status === wanted || node.faults !== faults) return
      load.acknowledged.broken.add(`${node.name} answered ${status} instead of ${wanted} to a key`)
    }),
  )
}

async function addSite({ cluster, owners, acknowledged }: Load, n: number): Promise<void> {
  const body = { name: `https://site-${n}.example` }
  const key = owners[n % owners.length] ?? ''
  const made = await send(cluster.nodeAt(n), 'POST', SITES, { key, body })
  note(acknowledged, 'sites', made)
  if (made.status === 201) acknowledged.sites.add(v.parse(Site, JSON.parse(made.text)).id)
}

async function sendInquiry({ cluster, owners, acknowledged }: Load, n: number): Promise<void> {
  const message = `Inquiry ${n}`
  const key = owners[n % owners.length] ?? ''
  const body = { name: 'Ada', message }
  const made = await send(cluster.nodeAt(n), 'POST', '/v1/billing/contact', { key, body })
  note(acknowledged, 'inquiries', made)
  if (made.status === 200) acknowledged.inquiries.add(message)
}

/** Sends an inquiry with the same solved challenge to two nodes: one of them must refuse it. */
async function sendTwice({ cluster, acknowledged }: Load, n: number): Promise<void> {
  const asked = await send(cluster.nodeAt(n), 'GET', '/v1/contact/challenge', {})
  if (asked.status !== 200) return
  const verification = await solveChallenge(v.parse(ContactChallenge, JSON.parse(asked.text)))
  const message = `Inquiry of a stranger ${n}`
  const body = { name: 'Eve', email: 'eve@example.com', message, verification }
  const sent = await Promise.all(
    [1, 2].map((other) => send(cluster.nodeAt(n + other), 'POST', '/v1/contact', { body })),
  )
  const accepted = sent.filter(({ status }) => status === 200)
  if (accepted.length > 0) acknowledged.inquiries.add(message)
  else if (sent.some(({ status }) => isOpen(status))) acknowledged.open.inquiries += 1
  else if (sent.some(({ status }) => status === 403))
    acknowledged.broken.add('a solution was refused')
  if (accepted.length > 1) acknowledged.broken.add('two nodes accepted the same solution')
  for (const { status, text } of sent) {
    if (![-1, 0, 200, 403, 503].includes(status))
      acknowledged.broken.add(`an inquiry: ${status} ${text}`)
  }
}

/** Looks up with the limited key on each of the nodes at once. Returns how many were answered. */
export async function countLimited(
  { narrow, acknowledged }: Pick<Load, 'narrow' | 'acknowledged'>,
  nodes: readonly LoadedNode[],
): Promise<number> {
  const replies = await Promise.all(
    nodes.map((node) => send(node, 'GET', LOOK_UP, { key: narrow })),
  )
  const answered = replies.filter(({ status }) => status === 200).length
  acknowledged.limited += answered
  for (const { status, text } of replies) {
    if (![-1, 0, 200, 429].includes(status))
      acknowledged.broken.add(`a limited key: ${status} ${text}`)
  }
  return answered
}

function isOpen(status: number): boolean {
  return status === 0 || status === 503
}

function note(
  acknowledged: Acknowledged,
  kind: 'keys' | 'sites' | 'inquiries',
  { status, text }: Reply,
): void {
  if (isOpen(status)) acknowledged.open[kind] += 1
  else if (![-1, 200, 201].includes(status))
    acknowledged.broken.add(`new ${kind}: ${status} ${text}`)
}

/** Looks up with each key on each node. Returns the answers whose status is not the wanted one. */
export async function askAll(cluster: LoadedNodes, keys: Iterable<string>, wanted: number) {
  const wrong: string[] = []
  for (const key of keys) {
    for (const node of cluster.nodes) {
      const { status } = await send(node, 'GET', LOOK_UP, { key })
      if (status !== wanted) wrong.push(`${node.name} answered ${status}`)
    }
  }
  return wrong
}

let clients = 0

/** Sends a request from another address each time, since addresses are limited. */
function send(
  { url }: LoadedNode,
  method: string,
  path: string,
  { key, origin, body }: Sent,
): Promise<Reply> {
  clients += 1
  const headers = {
    'x-forwarded-for': `10.${clients >> 16}.${(clients >> 8) & 255}.${clients & 255}`,
    ...(key !== undefined && { 'x-api-key': key }),
    ...(origin !== undefined && { origin }),
  }
  return new Promise((resolve) => {
    const fail = (error: NodeJS.ErrnoException) =>
      resolve({ status: error.code === 'ECONNREFUSED' ? -1 : 0, text: error.message })
    const read = (answer: IncomingMessage) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (chunk) => {
        text += chunk
      })
      answer.on('error', fail)
      answer.on('end', () =>
        resolve({ status: answer.complete ? (answer.statusCode ?? 0) : 0, text }),
      )
    }
    const signal = AbortSignal.timeout(LONGEST_MS)
    request(`${url}${path}`, { method, agent, headers, signal }, read)
      .on('error', fail)
      .end(body === undefined ? undefined : JSON.stringify(body))
  })
}
