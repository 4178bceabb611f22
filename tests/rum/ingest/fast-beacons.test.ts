import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { POLICIES } from '../../../lib/limits/rate-limiter.ts'
import { type RequestLine, silentLog } from '../../../lib/parts/log/log.ts'
import { createServer } from '../../../routes/server.ts'
import { makeApp, NOON, type TestApp } from '../../support/helpers.ts'
import { openConnection, type RawConnection } from '../../support/raw-connection.ts'

/* Both ways through the server give a beacon the same answer and the same line in the log. */

const ORIGIN = 'https://shop.example'
const BEACON = JSON.stringify({ path: '/a', deviceType: 'mobile', metrics: { lcp: 1_200 } })
const CHANGING =
  /[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|(?<=\r\nDate: ).*/g

interface Way {
  readonly connection: RawConnection
  /** Beacons that node:http has parsed. */
  parsed: number
  readonly close: () => void
}

let app: TestApp
let ways: { readonly fast: Way; readonly usual: Way }
let lines: RequestLine[] = []
before(async () => {
  app = await makeApp({
    env: { MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' },
    log: { ...silentLog, request: (line) => lines.push(line) },
  })
  const key = await app.makeKey()
  const site = await app.send('POST', '/v1/account/me/sites', { key, body: { name: ORIGIN } })
  assert.equal(site.status, 201)
  const [fast, usual] = [createServer(app.services), createServer(app.services)]
  // The fast path leaves connections alone on which somebody else listens.
  usual.prependListener('connection', (socket) => socket.on('data', () => {}))
  ways = { fast: await open(fast), usual: await open(usual) }
})
after(async () => {
  ways.fast.close()
  ways.usual.close()
  await app.close()
})

/** Opens a connection that has received its first answer. */
async function open(server: Server): Promise<Way> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // safe: it listens on a port
  const { port } = server.address() as AddressInfo
  const connection = await openConnection(`http://127.0.0.1:${port}`)
  const close = () => {
    server.closeAllConnections()
    server.close()
  }
  const way = { connection, parsed: 0, close }
  await ask(way, 'GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n')
  server.on('request', ({ method }: IncomingMessage) => {
    if (method === 'POST') way.parsed += 1
  })
  return way
}

/** Returns the whole answer, made steady. */
async function ask({ connection: { socket, received } }: Way, bytes: string): Promise<string> {
  const from = received().length
  socket.write(bytes, 'latin1')
  const isWhole = (text: string) => {
    const [head = '', body] = text.split('\r\n\r\n')
    const length = /^content-length: (\d+)$/im.exec(head)?.[1] ?? '0'
    return body !== undefined && body.length >= Number(length)
  }
  while (!isWhole(received().slice(from))) await once(socket, 'data')
  return toSteady(received().slice(from))
}

/** The bytes without what changes from one answer to the next. Header names are in lower case, and sorted. */
function toSteady(answer: string): string {
  const [head = '', body] = answer.replaceAll(CHANGING, '*').split('\r\n\r\n')
  const [line, ...fields] = head.split('\r\n')
  const sorted = fields.map((field) => field.replace(/^[^:]*/, (name) => name.toLowerCase())).sort()
  return [line, ...sorted, '', body].join('\r\n')
}

interface Sent {
  readonly path?: string
  readonly body?: string
  /** In place of the usual ones, or undefined to send none. */
  readonly headers?: Readonly<Record<string, string | undefined>>
}

function toBytes(client: string, { path = '/v1/telemetry/rum', body = BEACON, headers }: Sent) {
  const all = {
    host: '127.0.0.1:8787',
    'user-agent': 'Mozilla/5.0',
    'content-type': 'text/plain;charset=UTF-8',
    origin: ORIGIN,
    referer: `${ORIGIN}/a`,
    'x-forwarded-for': client,
    'content-length': String(body.length),
    ...headers,
  }
  const sent = Object.entries(all).filter(([, value]) => value !== undefined)
  const head = sent.map((field) => `${field.join(': ')}\r\n`).join('')
  return `POST ${path} HTTP/1.1\r\n${head}\r\n${body}`
}

let clients = 0
/** Addresses that have not sent anything yet, one for each way. */
function newClients() {
  clients += 1
  return { fast: `198.51.100.${clients}`, usual: `203.0.113.${clients}` }
}

/** Sends the same to both ways. Returns the answer, and how many beacons node:http has parsed for the fast one. */
async function askBoth(sent: Sent, from = newClients()): Promise<readonly [string, number]> {
  const { parsed } = ways.fast
  lines = []
  const [fast, counted] = await countDuring(() => ask(ways.fast, toBytes(from.fast, sent)))
  const [usual, expected] = await countDuring(() => ask(ways.usual, toBytes(from.usual, sent)))
  assert.deepEqual([fast, counted], [usual, expected])
  const [left, right] = lines.map(({ requestId: _, ms: __, client: ___, ...line }) => line)
  assert.deepEqual(left, right)
  assert.equal(lines.length, 2)
  return [fast, ways.fast.parsed - parsed]
}

/** Returns the answer, and how much each count of beacons has grown. */
async function countDuring(act: () => Promise<string>): Promise<readonly [string, number[]]> {
  const before = Object.values(app.services.rum.beacons)
  const answer = await act()
  const counts = Object.values(app.services.rum.beacons)
  return [answer, counts.map((count, at) => count - (before[at] ?? 0))]
}

const OWN_ID = '6f6b1d3e-56c6-1a08-8a0c-9d3a6a3a5a01'
const OTHER_ORIGIN = { headers: { origin: 'https://other.example' } }
const TOO_LARGE = JSON.stringify({ path: '/a', metrics: { lcp: 1 }, x: 'x'.repeat(4_096) })

/** The status, and what is sent. */
const answered: Readonly<Record<string, readonly [number, Sent]>> = {
  'a beacon': [204, {}],
  'a beacon without Referer': [204, { headers: { referer: undefined } }],
  'a beacon without Content-Type': [204, { headers: { 'content-type': undefined } }],
  'a beacon of a bot': [204, { headers: { 'user-agent': 'Googlebot/2.1' } }],
  'a beacon with values out of range': [204, { body: '{"metrics":{"lcp":-1}}' }],
  'a beacon with its own id': [204, { headers: { 'x-request-id': OWN_ID } }],
  'a beacon in UTF-8': [204, { body: '{"path":"/\xc3\xa9","metrics":{"lcp":1}}' }],
  'a body that is not UTF-8': [400, { body: '{"path":"/\xe9"}' }],
  'a body that is not JSON': [400, { body: '{"metrics":' }],
  'an empty body': [400, { body: '' }],
  'a list': [400, { body: '[]' }],
  'an unknown device': [400, { body: '{"deviceType":"watch","metrics":{"lcp":1}}' }],
  'neither metrics nor errors': [400, { body: '{"path":"/"}' }],
  'no origin': [403, { headers: { origin: undefined } }],
  'the origin of nobody': [403, { headers: { origin: 'null' } }],
  'the origin of an app': [403, { headers: { origin: 'ionic://localhost' } }],
  'another origin': [403, OTHER_ORIGIN],
  'a referer of another origin': [403, { headers: { referer: 'https://other.example/' } }],
  'a body that is too large': [413, { body: TOO_LARGE }],
  'a body of another origin that is too large': [413, { body: TOO_LARGE, ...OTHER_ORIGIN }],
}

/** What node:http answers. */
const left: Readonly<Record<string, readonly [number, Sent]>> = {
  'another path': [404, { path: '/v1/telemetry/other' }],
  'a path with a query': [204, { path: '/v1/telemetry/rum?a=b' }],
  'an unusual host': [204, { headers: { host: 'A.example' } }],
}

describe('a beacon that follows another request of its connection', () => {
  for (const [does, cases, wanted] of [
    ['is answered by the fast path as by node:http', answered, 0],
    ['is left to node:http', left, 1],
  ] as const)
    for (const [name, [status, sent]] of Object.entries(cases))
      it(`${does}: ${name}`, async () => {
        const [answer, parsed] = await askBoth(sent)
        assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `))
        assert.equal(parsed, wanted)
      })

  it('is refused in the same way above the rate limit', async () => {
    const from = newClients()
    const { limits } = app.services
    for (const id of Object.values(from)) {
      for (let n = 0; n < POLICIES.beacons.capacity; n++) limits.beacons.take(id, NOON)
    }
    const [answer, parsed] = await askBoth({}, from)
    assert.match(answer, /^HTTP\/1.1 429 .*\r\nretry-after: \d+\r\n.*"RATE_LIMITED"/s)
    assert.equal(parsed, 0)
  })

  it('is refused in the same way if it cannot be stored', async () => {
    app.setReadOnly(true)
    const [answer, parsed] = await askBoth({})
    app.setReadOnly(false)
    assert.match(answer, /^HTTP\/1.1 503 .*The beacon cannot be stored now/s)
    assert.equal(parsed, 0)
  })

  it('is left to node:http, and the last of its connection: an invalid host', async () => {
    const ended = Object.values(ways).map(({ connection }) => connection.ended)
    const [answer, parsed] = await askBoth({ headers: { host: 'a@b' } })
    assert.match(answer, /^HTTP\/1.1 400 .*\r\nconnection: close\r\n/s)
    assert.equal(parsed, 1)
    await Promise.all(ended)
  })
})
