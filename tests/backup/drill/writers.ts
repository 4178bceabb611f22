import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { type Answer, type Ask, createAsk, mayGoOn } from './ask.ts'

/** The writes that the server acknowledged, each with the monotonic milliseconds of its answer. */
export interface Acknowledged {
  readonly keys: { readonly id: string; readonly at: number }[]
  readonly sites: { readonly id: string; readonly at: number }[]
  readonly beacons: number[]
  readonly lookups: number[]
  /** The number of unexpected answers, by status and body. */
  readonly others: Map<string, number>
}

export interface Writers {
  readonly acknowledged: Acknowledged
  /** Resolves when the server is gone. */
  readonly ended: Promise<unknown>
}

export interface Target {
  readonly url: string
  /** One key per user. The users create keys and sites one after another, because each may create only a few. */
  readonly keys: readonly string[]
  /** The origin of the beacons. */
  readonly origin: string
}

/** Clients, and thus the requests in flight at the kill, which the server may have counted or not. */
export const BEACON_CLIENTS = 8
export const LOOKUP_CLIENTS = 4
/** Clients that create keys, and as many that create sites. */
const MAKERS = 3
/** Pauses keep the clients from overloading the machine. */
const PAUSE_MS = 5
/** So that 60 users can create keys and sites for 30 seconds. */
const MAKER_PAUSE_MS = 50
const BEACON = '{"path":"/a","deviceType":"mobile","metrics":{"lcp":1200,"cls":0}}'
const Created = v.object({ id: v.string() })

/** Writes of every kind, from many clients, until the server is gone. */
export function startWriters({ url, keys, origin }: Target): Writers {
  const acknowledged: Acknowledged = {
    keys: [],
    sites: [],
    beacons: [],
    lookups: [],
    others: new Map(),
  }
  const agent = new Agent({ keepAlive: true })
  const ask = createAsk(agent, url)
  const clients = [
    ...range(MAKERS).map((n) => makeKeys(ask, cycle(keys, n), acknowledged)),
    ...range(MAKERS).map((n) => makeSites(ask, cycle(keys, n), acknowledged)),
    ...range(BEACON_CLIENTS).map((n) => sendBeacons(ask, { origin, number: n }, acknowledged)),
    ...range(LOOKUP_CLIENTS).map((n) => lookUp(ask, keys[n % keys.length] ?? '', acknowledged)),
  ]
  const ended = Promise.all(clients).finally(() => agent.destroy())
  return { acknowledged, ended }
}

/** The keys again and again: those of every third user, so that clients do not share users. */
function* cycle(keys: readonly string[], first: number): Generator<string, never> {
  for (let n = first; ; n += MAKERS) yield keys[n % keys.length] ?? ''
}

async function makeKeys(
  ask: Ask,
  users: Iterable<string>,
  { keys, others }: Acknowledged,
): Promise<void> {
  let n = 0
  for (const key of users) {
    await sleep(MAKER_PAUSE_MS)
    const headers = { 'x-api-key': key }
    n += 1
    const body = JSON.stringify({ name: `key ${n}` })
    const answer = await ask('/v1/account/me/keys', { method: 'POST', headers, body })
    if (answer.status === 201) keys.push({ id: readId(answer), at: answer.at })
    else if (!(await mayGoOn(answer, others))) return
  }
}

async function makeSites(
  ask: Ask,
  users: Iterable<string>,
  { sites, others }: Acknowledged,
): Promise<void> {
  for (const key of users) {
    await sleep(MAKER_PAUSE_MS)
    const headers = { 'x-api-key': key }
    const body = JSON.stringify({ name: `https://${crypto.randomUUID()}.example` })
    const answer = await ask('/v1/account/me/sites', { method: 'POST', headers, body })
    if (answer.status === 201) sites.push({ id: readId(answer), at: answer.at })
    else if (!(await mayGoOn(answer, others))) return
  }
}

/** Sends each beacon from another address, since addresses are limited. */
async function sendBeacons(
  ask: Ask,
  { origin, number }: { origin: string; number: number },
  { beacons, others }: Acknowledged,
): Promise<void> {
  for (let n = 0; ; n++) {
    await sleep(PAUSE_MS)
    const from = `10.${number}.${(n >> 8) & 255}.${n & 255}`
    const headers = { origin, 'x-forwarded-for': from }
    const answer = await ask('/v1/telemetry/rum', { method: 'POST', headers, body: BEACON })
    if (answer.status === 204) beacons.push(answer.at)
    else if (!(await mayGoOn(answer, others))) return
  }
}

async function lookUp(ask: Ask, key: string, { lookups, others }: Acknowledged): Promise<void> {
  for (let n = 0; ; n++) {
    await sleep(PAUSE_MS)
    const headers = { 'x-api-key': key }
    const answer = await ask(`/v1/ip/81.2.69.${n & 255}`, { method: 'GET', headers })
    if (answer.status === 200 || answer.status === 404) lookups.push(answer.at)
    else if (!(await mayGoOn(answer, others))) return
  }
}

function readId({ body }: Answer): string {
  return v.parse(Created, JSON.parse(body)).id
}

function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n)
}
