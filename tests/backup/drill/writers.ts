import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { type Answer, type Ask, createAsk, goOn } from './ask.ts'

/** What the server has acknowledged, with the monotonic milliseconds at which the answer was whole. */
export interface Acknowledged {
  readonly keys: { readonly id: string; readonly at: number }[]
  readonly sites: { readonly id: string; readonly at: number }[]
  readonly beacons: number[]
  readonly lookups: number[]
  /** Other answers than those above and 429, by what they were. */
  readonly others: Map<string, number>
}

export interface Writers {
  readonly acknowledged: Acknowledged
  /** Resolves when the server is gone. */
  readonly ended: Promise<unknown>
}

export interface Target {
  readonly url: string
  /** Keys of users, each of whom makes keys and sites. */
  readonly keys: readonly string[]
  /** Where beacons come from. */
  readonly origin: string
}

/** As many may be on their way, counted or not. */
export const BEACON_CLIENTS = 8
export const LOOKUP_CLIENTS = 4
/** So many clients that do not pause would measure the machine. */
const PAUSE_MS = 5
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
    ...keys.flatMap((key) => [makeKeys(ask, key, acknowledged), makeSites(ask, key, acknowledged)]),
    ...range(BEACON_CLIENTS).map((n) => sendBeacons(ask, { origin, number: n }, acknowledged)),
    ...range(LOOKUP_CLIENTS).map((n) => lookUp(ask, keys[n % keys.length] ?? '', acknowledged)),
  ]
  const ended = Promise.all(clients).finally(() => agent.destroy())
  return { acknowledged, ended }
}

async function makeKeys(ask: Ask, key: string, { keys, others }: Acknowledged): Promise<void> {
  const headers = { 'x-api-key': key }
  for (let n = 0; ; n++) {
    const body = JSON.stringify({ name: `key ${n}` })
    const answer = await ask('/v1/account/me/keys', { method: 'POST', headers, body })
    if (answer.status === 201) keys.push({ id: readId(answer), at: answer.at })
    else if (!(await goOn(answer, others))) return
  }
}

async function makeSites(ask: Ask, key: string, { sites, others }: Acknowledged): Promise<void> {
  const headers = { 'x-api-key': key }
  for (;;) {
    const body = JSON.stringify({ name: `https://${crypto.randomUUID()}.example` })
    const answer = await ask('/v1/account/me/sites', { method: 'POST', headers, body })
    if (answer.status === 201) sites.push({ id: readId(answer), at: answer.at })
    else if (!(await goOn(answer, others))) return
  }
}

/** Each comes from another address, since those of one are limited. */
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
    else if (!(await goOn(answer, others))) return
  }
}

async function lookUp(ask: Ask, key: string, { lookups, others }: Acknowledged): Promise<void> {
  for (let n = 0; ; n++) {
    await sleep(PAUSE_MS)
    const headers = { 'x-api-key': key }
    const answer = await ask(`/v1/ip/81.2.69.${n & 255}`, { method: 'GET', headers })
    if (answer.status === 200 || answer.status === 404) lookups.push(answer.at)
    else if (!(await goOn(answer, others))) return
  }
}

function readId({ body }: Answer): string {
  return v.parse(Created, JSON.parse(body)).id
}

function range(length: number): number[] {
  return Array.from({ length }, (_, n) => n)
}
