import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { makeApp, NOON, recordingLog, type TestApp } from '../../support/helpers.ts'
import { freshClient } from '../../support/scene/send.ts'
import { MINUTE_MS, NODES } from './nodes.ts'
import { type StoreServer, startStore } from './store-server.ts'

const LOOK_UP = '/v1/ip/8.8.8.8'

let server: StoreServer
let now: number
let log: ReturnType<typeof recordingLog>
let closing: AsyncDisposableStack
let nodes: TestApp[]
let key: string

/** Three services of one database, with a key that all of them know. */
async function openNodes(): Promise<void> {
  now = NOON
  log = recordingLog()
  closing = new AsyncDisposableStack()
  await server.empty()
  nodes = []
  for (let node = 0; node < NODES; node++) {
    const database = await server.openDatabase()
    nodes.push(closing.use(await makeApp({ database, log, now: () => now })))
  }
  key = await nodeAt(0).makeKey({ plan: 'free' })
  await waitForKey(key)
}

async function waitForKey(text: string): Promise<void> {
  for (const { services } of nodes) while (services.keys.find(text, 0) === null) await pause()
}

const isLogged = () =>
  log.events.some(({ message }) => message.startsWith('cannot share the rate limits'))

const pause = () => new Promise((resolve) => setTimeout(resolve, 10))

function nodeAt(index: number): TestApp {
  const node = nodes[index % NODES]
  assert.ok(node)
  return node
}

/**
 * Avoids the fast path of tests: it looks at the buckets first, and another node may change them meanwhile.
 */
const lookUp = async (node: number, apiKey = key): Promise<Response> => {
  const request = new Request(`http://localhost${LOOK_UP}`, { headers: { 'x-api-key': apiKey } })
  return nodeAt(node).app.fetch(request, { remoteAddress: freshClient() })
}

/** Sends look-ups to all nodes at once. Returns how many were answered. */
async function countAnswered(lookUps: number): Promise<number> {
  const answers = await Promise.all(Array.from({ length: lookUps }, (_, at) => lookUp(at)))
  for (const { status } of answers) assert.ok(status === 200 || status === 429, String(status))
  return answers.filter(({ status }) => status === 200).length
}

describe('a limit of 10 a minute on three nodes', () => {
  before(async () => {
    server = await startStore()
  })
  after(() => server[Symbol.asyncDispose]())
  beforeEach(openNodes)
  afterEach(() => closing.disposeAsync())

  it('allows at most 12 at once, and never more than 10 a minute after that', async () => {
    const first = await countAnswered(60)
    assert.ok(first >= 10 && first <= 12, `${first} at once`)
    let all = first
    for (let minute = 1; minute <= 3; minute++) {
      now += MINUTE_MS
      all += await countAnswered(60)
      assert.ok(all <= 12 + 10 * minute, `${all} after ${minute} minutes`)
    }
    assert.ok(all >= 40 - NODES, `${all} after 3 minutes`)
  })

  it('is shared out equally while the store does not answer, and no look-up fails', async () => {
    await countAnswered(NODES)
    await server.pause()
    now += MINUTE_MS
    const answered = await countAnswered(60)
    assert.ok(answered >= 3 && answered <= 10, `${answered} meanwhile`)
    while (!isLogged()) {
      await lookUp(0)
      await pause()
    }
    await server.resume()
    // Nodes ask again after a second. Until then, some may use their share, and others the whole limit.
    for (let allowed = 0; allowed < 10 || allowed > 12; ) {
      now += MINUTE_MS
      allowed = await countAnswered(60)
      assert.ok(allowed <= 12 + 3 * (NODES - 1), `${allowed} afterwards`)
      await pause()
    }
  })

  it('lets each node report what is left on all of them', async () => {
    for (let request = 0; request < 6; request++) assert.equal((await lookUp(0)).status, 200)
    // A node gives its first answer before it has asked the store.
    await lookUp(1)
    const { status, headers } = await lookUp(1)
    assert.equal(status, 200)
    assert.match(headers.get('ratelimit') ?? '', /^"per-key";r=2;/)
  })

  it('also limits all keys of a user together', async () => {
    const rest = await countAnswered(60)
    const other = await nodeAt(1).makeKey({ plan: 'free' })
    let answered = 0
    for (let request = 0; request < 20; request++) {
      const { status } = await lookUp(request, other)
      if (status === 200) answered += 1
    }
    // Two keys may be used: 20 a minute in all.
    assert.ok(rest + answered <= 20 + NODES - 1, `${rest} and ${answered}`)
  })

  it('counts a batch as several requests, and makes it wait for them instead of refusing it', async () => {
    const paid = await nodeAt(0).makeKey({ plan: 'pro' })
    await waitForKey(paid)
    const ips = Array.from({ length: 1_000 }, () => '8.8.8.8')
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, at) =>
        nodeAt(at).send('POST', '/v1/ip/batch', { key: paid, body: { ips } }),
      ),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  })
})
