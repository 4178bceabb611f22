import * as v from 'valibot'
import { createRandom } from '../../random.ts'
import { randomMix } from '../addresses.ts'
import type { Call, Client } from './client.ts'
import { type Person, signInAndOut } from './people.ts'

/** Does one thing that somebody does; resolves when it is done. */
export type Act = () => Promise<unknown>

/** What an action is made with. */
interface Cast {
  readonly client: Client
  /** A person: each in turn, so that nobody runs into a limit. */
  person(): Person
  payer(): Person
  address(): string
  random(): number
}

type Action = (cast: Cast) => Promise<unknown>

const ADDRESSES = 100_000
const BATCH = 100
const LOCATED = [200, 404]

/** Each action with its share in 10,000. Together they use every part of the service. */
const ACTIONS: readonly (readonly [share: number, action: Action])[] = [
  [5_800, (cast) => locate(cast, '')],
  [400, (cast) => locate(cast, '?fields=location.country.code,network.asn')],
  [500, (cast) => locate(cast, '/timezone')],
  [200, (cast) => locate(cast, '/validation')],
  [
    400,
    ({ client, person, address }) =>
      client.send({ ...callOf(person(), '/v1/ip/me', address()), expected: LOCATED }),
  ],
  [100, locateBatch],
  [2_400, sendBeacon],
  [50, readPublic],
  [20, readPage],
  [12, readAccount],
  [6, ({ client, person }) => client.send(callOf(person(), '/v1/account/me/audit?limit=50'))],
  [4, createAndRevokeKey],
  [4, ({ client, payer, random }) => client.send(callOf(payer(), pick(BILLING_READS, random)))],
  [1, switchOverages],
  [2, ({ client, person }) => readTelemetry(client, person(), 'summary')],
  [1, ({ client, person }) => readTelemetry(client, person(), 'overview')],
  [0.5, ({ client, person, address }) => signInAndOut(client, person(), address())],
]

const PUBLIC_READS = [
  '/health',
  '/v1',
  '/v1/billing/plans',
  '/v1/contact/challenge',
  '/.well-known/openapi.json',
]
const PAGES = ['/', '/docs', '/rum.js', '/rum.json', '/robots.txt']
const ACCOUNT_READS = ['', '/keys', '/sites', '/usage'].map((path) => `/v1/account/me${path}`)
const BILLING_READS = ['subscription', 'invoices', 'details', 'payment-method-info'].map(
  (path) => `/v1/billing/${path}`,
)

/** Draws actions by their shares, the same ones in every run. */
export function createMix(client: Client, people: readonly Person[]): Act {
  const random = createRandom(1)
  const { addresses } = randomMix(ADDRESSES)
  const cast: Cast = {
    client,
    person: inTurn(people),
    payer: inTurn(people.filter(({ isPaying }) => isPaying)),
    address: inTurn(addresses),
    random,
  }
  let total = 0
  const ranges = ACTIONS.map(([share, action]) => {
    total += share
    return { end: total, action }
  })
  return async () => {
    const drawn = random() * total
    await ranges.find(({ end }) => drawn < end)?.action(cast)
  }
}

function locate({ client, person, address }: Cast, rest: string): Promise<unknown> {
  return client.send({ ...callOf(person(), `/v1/ip/${address()}${rest}`), expected: LOCATED })
}

function locateBatch({ client, person, address }: Cast): Promise<unknown> {
  const body = JSON.stringify({ ips: Array.from({ length: BATCH }, address) })
  return client.send({ ...callOf(person(), '/v1/ip/batch'), method: 'POST', body })
}

function sendBeacon({ client, person, address, random }: Cast): Promise<unknown> {
  const time = (most: number) => Math.round(most * random() ** 2)
  const body = JSON.stringify({
    path: `/product/${time(1_000)}`,
    deviceType: pick(['desktop', 'mobile', 'tablet'], random),
    connectionType: '4g',
    metrics: { lcp: time(5_000), inp: time(500), cls: random() / 3, ttfb: time(1_500) },
  })
  const headers = { origin: person().site, 'x-forwarded-for': address() }
  const path = '/v1/telemetry/rum'
  return client.send({ method: 'POST', path, headers, body, expected: [204] })
}

function readPublic({ client, address, random }: Cast): Promise<unknown> {
  const headers = { 'x-forwarded-for': address() }
  return client.send({ method: 'GET', path: pick(PUBLIC_READS, random), headers })
}

function readPage({ client, address, random }: Cast): Promise<unknown> {
  const headers = { accept: 'text/html', 'x-forwarded-for': address() }
  return client.send({ method: 'GET', path: pick(PAGES, random), headers })
}

/** By key or by session, as it comes. */
function readAccount({ client, person, random }: Cast): Promise<unknown> {
  const call = callOf(person(), pick(ACCOUNT_READS, random))
  if (random() < 0.5) return client.send(call)
  const headers = { authorization: `Bearer ${person().session}` }
  return client.send({ ...call, headers })
}

const Created = v.object({ id: v.string() })

async function createAndRevokeKey({ client, person }: Cast): Promise<void> {
  const path = '/v1/account/me/keys'
  const call = callOf(person(), path)
  const body = JSON.stringify({ name: 'for a moment' })
  const text = await client.send({ ...call, method: 'POST', body, expected: [201] })
  if (text === undefined) return
  const { id } = v.parse(Created, JSON.parse(text))
  await client.send({ ...call, method: 'DELETE', path: `${path}/${id}` })
}

function switchOverages({ client, payer, random }: Cast): Promise<unknown> {
  const body = JSON.stringify({ overagesEnabled: random() < 0.5 })
  return client.send({ ...callOf(payer(), '/v1/billing/subscription'), method: 'PATCH', body })
}

function readTelemetry(client: Client, person: Person, kind: string): Promise<unknown> {
  const { hostname } = new URL(person.site)
  return client.send(callOf(person, `/v1/telemetry/rum/${kind}?domain=${hostname}`))
}

function callOf({ key }: Person, path: string, from?: string): Call {
  const headers = { 'x-api-key': key, ...(from !== undefined && { 'x-forwarded-for': from }) }
  return { method: 'GET', path, headers }
}

function pick<Value>(values: readonly Value[], random: () => number): Value {
  return at(values, Math.floor(random() * values.length))
}

function inTurn<Value>(values: readonly Value[]): () => Value {
  let next = 0
  return () => at(values, next++ % values.length)
}

function at<Value>(values: readonly Value[], index: number): Value {
  const value = values[index]
  if (value === undefined) throw new Error('Nothing to draw from')
  return value
}
