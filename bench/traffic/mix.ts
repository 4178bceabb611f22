import * as v from 'valibot'
import { createRandom, pick, pickByWeight } from '../../scripts/parts/random.ts'
import { randomMix } from '../parts/addresses.ts'
import { makeBeacon } from '../parts/beacon.ts'
import type { Call, Client } from './client.ts'
import { type Person, signInAndOut } from './people.ts'

/** Performs one random action and resolves when it is done. */
export type Act = () => Promise<unknown>

/** The people, addresses and random numbers from which actions draw. */
type Inputs = ReturnType<typeof createInputs>

type Action = (inputs: Inputs) => Promise<unknown>

const ADDRESSES = 100_000
const BATCH = 100
const LOCATED = { expected: [200, 404] }

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

/** Actions with their weights. Together they use every part of the service. */
const ACTIONS: readonly { readonly weight: number; readonly act: Action }[] = [
  { weight: 5_800, act: locate('') },
  { weight: 400, act: locate('?fields=location.country.code,network.asn') },
  { weight: 500, act: locate('/timezone') },
  { weight: 200, act: locate('/validation') },
  { weight: 400, act: ({ send, from }) => send('/v1/ip/me', { ...LOCATED, headers: from() }) },
  { weight: 100, act: locateBatch(BATCH) },
  { weight: 2_400, act: sendBeacon },
  { weight: 50, act: (all) => readAnonymously(all, pick(all.random, PUBLIC_READS), '*/*') },
  { weight: 20, act: (all) => readPage(all, pick(all.random, PAGES)) },
  { weight: 12, act: readAccount },
  { weight: 9, act: ({ send }) => send('/v1/account/me/audit?limit=50') },
  // Rare, because each person may create only 30 an hour.
  { weight: 1, act: createAndRevokeKey },
  { weight: 4, act: ({ send, payer, random }) => send(pick(random, BILLING_READS), {}, payer()) },
  { weight: 1, act: switchOverages },
  { weight: 2, act: readTelemetry('summary') },
  { weight: 1, act: readTelemetry('overview') },
  { weight: 0.5, act: signIn },
]

export type Traffic = ReturnType<typeof createTraffic>

/** Actions of the people, in the same sequence in every run. */
export function createTraffic(client: Client, people: readonly Person[]) {
  const inputs = createInputs(client, people)
  const repeat =
    (act: Action): Act =>
    () =>
      act(inputs)
  return {
    /** Draws actions by their weights. */
    mix: repeat((all) => pickByWeight(all.random, ACTIONS).act(all)),
    signIn: repeat(signIn),
    createKey: repeat(createAndRevokeKey),
    sendBeacon: repeat(sendBeacon),
    locateBatch: (size: number) => repeat(locateBatch(size)),
    readPages: repeat(async (all) => {
      for (const path of PAGES) await readPage(all, path)
    }),
  }
}

function createInputs(client: Client, people: readonly Person[]) {
  const person = cycle(people)
  const address = cycle(randomMix(ADDRESSES).addresses)
  return {
    client,
    person,
    payer: cycle(people.filter(({ isPaying }) => isPaying)),
    address,
    random: createRandom(1),
    /** The header of a request from the next address. */
    from: () => ({ 'x-forwarded-for': address() }),
    /** Sends a call with the key of a person; default: one person after another, to avoid rate limits. */
    send: (path: string, { headers, ...call }: Partial<Call> = {}, { key } = person()) =>
      client.send({ method: 'GET', path, headers: { 'x-api-key': key, ...headers }, ...call }),
  }
}

function locate(rest: string): Action {
  return ({ send, address }) => send(`/v1/ip/${address()}${rest}`, LOCATED)
}

function locateBatch(size: number): Action {
  return ({ send, address }) => {
    const body = JSON.stringify({ ips: Array.from({ length: size }, address) })
    return send('/v1/ip/batch', { method: 'POST', body })
  }
}

function sendBeacon({ client, person, random, from }: Inputs): Promise<unknown> {
  const headers = { origin: person().site, ...from() }
  const beacon = makeBeacon(random)
  const { lcp, inp, cls, ttfb } = beacon.metrics
  const body = JSON.stringify({ ...beacon, metrics: { lcp, inp, cls, ttfb } })
  const path = '/v1/telemetry/rum'
  return client.send({ method: 'POST', path, headers, body, expected: [204] })
}

function readPage(inputs: Inputs, path: string): Promise<unknown> {
  return readAnonymously(inputs, path, 'text/html')
}

function readAnonymously({ client, from }: Inputs, path: string, accept: string) {
  return client.send({ method: 'GET', path, headers: { accept, ...from() } })
}

function signIn({ client, person, from }: Inputs): Promise<unknown> {
  return signInAndOut(client, person(), from())
}

/** Authenticates by key or by session, at random. */
function readAccount({ client, send, person, random }: Inputs): Promise<unknown> {
  const path = pick(random, ACCOUNT_READS)
  if (random() < 0.5) return send(path)
  const headers = { authorization: `Bearer ${person().session}` }
  return client.send({ method: 'GET', path, headers })
}

const Created = v.object({ id: v.string() })

async function createAndRevokeKey({ send, person }: Inputs): Promise<void> {
  const path = '/v1/account/me/keys'
  const owner = person()
  const body = JSON.stringify({ name: 'for a moment' })
  const text = await send(path, { method: 'POST', body, expected: [201] }, owner)
  if (text === undefined) return
  const { id } = v.parse(Created, JSON.parse(text))
  await send(`${path}/${id}`, { method: 'DELETE' }, owner)
}

function switchOverages({ send, payer, random }: Inputs): Promise<unknown> {
  const body = JSON.stringify({ overagesEnabled: random() < 0.5 })
  return send('/v1/billing/subscription', { method: 'PATCH', body }, payer())
}

function readTelemetry(kind: string): Action {
  return ({ send, person }) => {
    const owner = person()
    const { hostname } = new URL(owner.site)
    return send(`/v1/telemetry/rum/${kind}?domain=${hostname}`, {}, owner)
  }
}

/** Returns a function that goes through the values again and again. */
function cycle<Value>(values: readonly Value[]): () => Value {
  let next = 0
  return () => {
    const value = values[next++ % values.length]
    if (value === undefined) throw new Error('Cannot choose from an empty list')
    return value
  }
}
