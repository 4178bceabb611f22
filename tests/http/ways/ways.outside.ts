import assert from 'node:assert/strict'
import type { Server } from 'node:http'
import { after, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { MAX_UNANSWERED } from '../../../lib/http/fast-path/feed.ts'
import { createRateLimiter, POLICIES, type Policy } from '../../../lib/limits/rate-limiter.ts'
import type { Services } from '../../../lib/services/services.ts'
import { createServer } from '../../../routes/server.ts'
import { widePlansFile } from '../../support/plans-file.ts'
import { sharedScene } from '../../support/scene/scene.ts'
import { answersIn } from './answers.ts'
import { connectTo, type WatchedConnection, type WatchedServer, watch } from './connection.ts'
import { conversation, type Keys } from './requests.ts'

// run: alone

/*
 * The same bytes get the same answers whichever way they take through the server. `SEED` chooses
 * the conversations, always the same ones by default; `FUZZ_SECONDS` says for how long.
 */

const SEED = Number(process.env['SEED'] ?? 1)
const SECONDS = Number(process.env['FUZZ_SECONDS'] ?? 45)
/** Milliseconds without progress after which an unfinished request is taken as waiting for the client. */
const PATIENCE = { first: 50, again: 1_000 }

interface Ways {
  /** With the fast path. */
  readonly fast: WatchedServer
  /** Node.js reads everything itself, and the router answers it. */
  readonly usual: WatchedServer
}

let keys: Keys
let ways: Ways
const env = { MERIDIAN_PLANS: widePlansFile() }
const app = sharedScene({ env, replace: withoutLimits }, async () => {
  const [plan, origins] = ['free', ['https://a.example']]
  keys = {
    secret: await app.makeKey({ plan, scopes: ['geo:read', 'account:read'] }),
    publishable: await app.makeKey({ plan, type: 'publishable', origins }),
  }
  // Now, not while connections wait for a page.
  await app.services.loadCode()
  await app.services.preload()
  const usual = createServer(app.services, { answer: () => null })
  avoidFastPath(usual)
  ways = { fast: await watch(createServer(app.services)), usual: await watch(usual) }
})
after(async () => {
  await ways.fast.close()
  await ways.usual.close()
})

function withoutLimits({ limits }: Services): Partial<Services> {
  const unlimited = (policy: Policy) => createRateLimiter({ ...policy, capacity: 1e9 })
  const { account, address, failures, beacons, contact, pages, strangers } = POLICIES
  return {
    limits: {
      ...limits,
      account: unlimited(account),
      address: unlimited(address),
      failures: unlimited(failures),
      beacons: unlimited(beacons),
      contact: unlimited(contact),
      pages: unlimited(pages),
      strangers: unlimited(strangers),
    },
  }
}

/** The fast path leaves connections alone on which somebody else listens. Node.js then parses natively. */
function avoidFastPath(server: Server): void {
  server.prependListener('connection', (socket) => socket.on('data', () => {}))
}

interface Way {
  readonly server: WatchedServer
  /** Whether a first request is answered before. */
  readonly isKept: boolean
  readonly deliver: (connection: WatchedConnection, bytes: string) => Promise<void>
  /** Number of answers to other requests that come first. */
  readonly others?: number
}

async function atOnce(connection: WatchedConnection, bytes: string): Promise<void> {
  connection.send(bytes)
}

function inParts(cuts: readonly number[], waits: boolean): Way['deliver'] {
  return async (connection, bytes) => {
    const ends = [...cuts.map((cut) => Math.floor(cut * bytes.length)), bytes.length]
    ends.sort((a, b) => a - b)
    for (const [at, end] of ends.entries()) {
      connection.send(bytes.slice(ends[at - 1] ?? 0, end))
      await (waits ? connection.settled() : connection.read())
    }
  }
}

async function readingLate(connection: WatchedConnection, bytes: string): Promise<void> {
  connection.pause()
  connection.send(bytes)
  await connection.read()
  connection.resume()
}

/** Sends the bytes, and resets the connection before or while they are answered. */
async function sendAndReset({ cuts, waits }: Split, bytes: string): Promise<void> {
  const connection = await connectTo(ways.fast, PATIENCE.first)
  await inParts(cuts, false)(connection, bytes)
  if (waits) await nextTurn()
  connection.reset()
}

function getPlace(more = ''): string {
  return `GET /v1/ip/81.2.69.160 HTTP/1.1\r\nHost: a.example\r\nX-API-Key: ${keys.secret}\r\n${more}\r\n`
}

/** All answers, and whether the connection is closed then and after one more request. */
type Answers = readonly string[]

interface Outcome {
  readonly answers: Answers
  readonly hasBadBody: boolean
}

async function follow(way: Way, bytes: string, patience: number): Promise<Outcome> {
  const connection = await connectTo(way.server, patience)
  try {
    if (way.isKept) {
      connection.send(getPlace())
      await connection.settled()
      connection.take()
    }
    await way.deliver(connection, bytes)
    await connection.settled()
    const answers = answersIn(connection.take()).slice(way.others ?? 0)
    const hasBadBody = connection.hasBadBody()
    if (connection.isClosed()) return { answers: [...answers, 'closed'], hasBadBody }
    connection.send(getPlace('Connection: close\r\n'))
    await connection.settled()
    const last = answersIn(connection.take())
    const end = connection.isClosed() ? 'closed' : 'open'
    return { answers: [...answers, 'open', ...last, end], hasBadBody: connection.hasBadBody() }
  } finally {
    connection.close()
  }
}

/** A busy machine may have been slower than the patience. */
async function compareTwice(bytes: string, split: Split): Promise<void> {
  try {
    await compare(bytes, split, PATIENCE.first)
  } catch {
    await compare(bytes, split, PATIENCE.again)
  }
}

interface Split {
  readonly cuts: readonly number[]
  readonly waits: boolean
  readonly isKept: boolean
}

function allWays({ cuts, waits, isKept }: Split): Readonly<Record<string, Way>> {
  const { fast, usual } = ways
  return {
    'kept, without the fast path': { server: usual, isKept: true, deliver: atOnce },
    'the first request': firstOf(fast),
    'kept, with the fast path': { server: fast, isKept: true, deliver: atOnce },
    'reading late': { server: fast, isKept, deliver: readingLate },
    'in parts': { server: fast, isKept, deliver: inParts(cuts, waits) },
    'behind another request': {
      server: fast,
      isKept,
      deliver: (connection, bytes) => atOnce(connection, getPlace() + bytes),
      others: 1,
    },
    'behind so many others that it has to wait': {
      server: fast,
      isKept,
      deliver: (connection, bytes) => atOnce(connection, getPlace().repeat(MAX_UNANSWERED) + bytes),
      others: MAX_UNANSWERED,
    },
  }
}

async function compare(bytes: string, split: Split, patience: number): Promise<void> {
  const expected = follow(firstOf(ways.usual), bytes, patience)
  const others = Object.entries(allWays(split)).map(
    async ([name, way]) => [name, await follow(way, bytes, patience)] as const,
  )
  const old = throughOldProxy(bytes)
  const proxied = old === null ? null : follow(firstOf(ways.fast), old, patience)
  const reset = sendAndReset(split, bytes)
  const outcomes = await Promise.all(others)
  await reset
  for (const [name, outcome] of outcomes) {
    assertSame(outcome, await expected, name)
  }
  if (proxied === null) return
  const [left, right] = [(await proxied).answers, (await expected).answers]
  assert.equal(withoutConnection(left[0]), withoutConnection(right[0]), 'through an old proxy')
}

function firstOf(server: WatchedServer): Way {
  return { server, isKept: false, deliver: atOnce }
}

/** As nginx passes a request on: in HTTP/1.0. Null if it is not one plain request without a body. */
function throughOldProxy(bytes: string): string | null {
  const isPlain = /^[A-Z]+ [!-~]+ HTTP\/1\.1\r\n(?:[\w-]+: [ -~]*\r\n)+\r\n$/.test(bytes)
  const isSpecial = /^(Transfer-Encoding|Content-Length|Connection|Expect|Upgrade):/im.test(bytes)
  if (!isPlain || isSpecial || !/^Host: /im.test(bytes)) return null
  return bytes.replace(' HTTP/1.1\r\n', ' HTTP/1.0\r\nConnection: close\r\n')
}

/**
 * By default, HTTP/1.0 keeps no connection alive. It has no chunks: an empty chunked body is empty.
 */
function withoutConnection(answer = ''): string {
  return answer
    .replaceAll(/^(connection|keep-alive): .*\n/gm, '')
    .replace(/^transfer-encoding: chunked\n/m, '')
    .replace(/(\r\n\r\n)0\r\n\r\n$/, '$1')
}

/**
 * A request may be answered before its body is read, such as with 401. If the body is unreadable, only
 * the time at which it is read decides whether the answer is this one or 400.
 */
function assertSame(one: Outcome, other: Outcome, name: string): void {
  const hasBadBody = one.hasBadBody || other.hasBadBody
  const [left, right] = hasBadBody
    ? withoutRefusal(one.answers, other.answers)
    : [one.answers, other.answers]
  assert.deepEqual(left, right, name)
}

/** Leaves out the first answers that differ, if one of them is 400. */
function withoutRefusal(...both: readonly [Answers, Answers]): readonly [Answers, Answers] {
  const [one, other] = both
  const at = one.findIndex((answer, index) => answer !== other[index])
  const isRefused = both.some((answers) => answers[at]?.startsWith('HTTP/1.1 400 '))
  return isRefused ? [one.toSpliced(at, 1), other.toSpliced(at, 1)] : both
}

const split = fc.record({
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1, maxLength: 4 }),
  waits: fc.boolean(),
  isKept: fc.boolean(),
})

describe('the same bytes', { timeout: 900_000 }, () => {
  it('get the same answers, and close the connection or not, whichever way they take', async (t) => {
    t.diagnostic(`SEED=${SEED} npm run test:outside -- tests/http/ways`)
    let runs = 0
    let comparing = Promise.resolve()
    const property = fc.asyncProperty(conversation(keys), split, (bytes, parts) => {
      runs += 1
      comparing = compareTwice(bytes, parts)
      return comparing
    })
    const limit = { interruptAfterTimeLimit: SECONDS * 1_000, numRuns: Number.MAX_SAFE_INTEGER }
    try {
      await fc.assert(property, { seed: SEED, ...limit })
    } finally {
      // The time limit interrupts the last comparison.
      await comparing.catch(() => {})
    }
    t.diagnostic(`${runs} conversations`)
  })
})
