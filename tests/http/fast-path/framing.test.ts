import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises'
import fc from 'fast-check'
import { installFastPath } from '../../../lib/http/fast-path/fast-path.ts'
import { RequestReader } from '../../../lib/http/fast-path/plain-request.ts'
import { BatchedResponse } from '../../../lib/http/http-server.ts'
import type { AnswerWhole, WholeRequest } from '../../../lib/http/whole-request.ts'
import { listenLocally } from '../../support/loopback-server.ts'
import { openConnection } from '../../support/raw-connection.ts'

/* The fast path changes no answer, whatever a client sends and however its bytes are split. */

const DEADLINE_MS = 10_000
const servers: Server[] = []
const urls = { usual: '', fast: '' }
const fast = { gets: 0, posts: 0 }
before(async () => {
  urls.usual = await listen(() => {})
  const options = { answer: answerFast, onError: assert.ifError }
  urls.fast = await listen((server) => installFastPath(server, options))
})
after(() => {
  for (const server of servers) {
    server.closeAllConnections()
    server.close()
  }
})

/** Answers a GET at once and a POST later. */
function answerFast({ method, url, body }: WholeRequest): ReturnType<AnswerWhole['answer']> {
  if (body === null) {
    fast.gets += 1
    return { status: 200, headers: {}, json: textOf(method, url, '') }
  }
  if (url === '/early') return null
  fast.posts += 1
  const json = textOf(method, url, Buffer.from(body).toString('latin1'))
  return wait(2, { status: 200, headers: {}, json })
}

async function listen(prepare: (server: Server) => void): Promise<string> {
  const options = { ServerResponse: BatchedResponse, keepAliveTimeout: 65_000 }
  const server = createServer(options, answerUsual)
  servers.push(server)
  prepare(server)
  return listenLocally(server)
}

/** Answers with a digest of the request. At /early it does not wait for the body. */
async function answerUsual(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method = '', url = '' } = request
  const hasToWait = url !== '/early'
  const body = hasToWait ? Buffer.concat(await request.toArray()).toString('latin1') : ''
  const text = textOf(method, url, body)
  response.writeHead(200, { 'content-length': text.length })
  response.end(method === 'HEAD' ? undefined : text)
}

function textOf(method: string, url: string, body: string): string {
  const digest = createHash('sha256').update(body, 'latin1').digest('hex').slice(0, 8)
  return `${method} ${url} ${body.length} ${digest}\n`
}

const HOST = 'Host: a.example\r\n'
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`
const withBody = (method: string, path: string, body: string) =>
  `${method} ${path} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`
const inChunks = (path: string, body: string) => {
  const chunk = body === '' ? '' : `${body.length.toString(16)}\r\n${body}\r\n`
  return `POST ${path} HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\n${chunk}0\r\n\r\n`
}

const path = fc.constantFrom('/a', '/b', '/early')
const body = fc.oneof(
  fc.constantFrom(get('/smuggled'), `\r\n${get('/smuggled')}`, withBody('POST', '/c', 'x'), '\r\n'),
  fc.string({ unit: fc.constantFrom('a', '\r', '\n', '0'), maxLength: 12 }),
)
const plainMessage = fc.oneof(
  { weight: 4, arbitrary: path.map(get) },
  path.map((to) => `HEAD ${to} HTTP/1.1\r\n${HOST}\r\n`),
  fc
    .tuple(fc.constantFrom('POST', 'PUT', 'GET', 'M-SEARCH'), path, body)
    .map((parts) => withBody(...parts)),
)
const oddMessage = fc.oneof(
  fc.tuple(path, body).map((parts) => inChunks(...parts)),
  path.map((to) => `GET ${to} HTTP/1.1\r\n${HOST}X:a\r\n\r\n`),
  path.map((to) => `\r\n${get(to)}`),
  path.map((to) => get(to).replace('\r\n\r\n', '\r\nConnection: keep-alive, TE\r\n\r\n')),
)

/** Messages that are sent together, and the offsets at which their bytes are split. */
const mixedStep = fc.record({
  messages: fc.array(fc.oneof({ weight: 12, arbitrary: plainMessage }, oddMessage), {
    minLength: 1,
    maxLength: 3,
  }),
  cuts: fc.oneof(
    fc.constant([]),
    fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 3 }),
  ),
})
const plainStep = path.map((to) => ({ messages: [get(to)], cuts: [] }))
/** A POST, perhaps with a request right behind it, which arrives while the POST is being answered. */
const postStep = fc
  .tuple(
    fc.tuple(path, body).map((parts) => withBody('POST', ...parts)),
    fc.array(plainMessage, { maxLength: 1 }),
  )
  .map(([post, others]) => {
    const messages = [post, ...others]
    return { messages, cuts: [(post.length + 0.5) / messages.join('').length] }
  })
const step = fc.oneof(
  { weight: 3, arbitrary: plainStep },
  { weight: 2, arbitrary: postStep },
  { weight: 2, arbitrary: mixedStep },
)
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

function split(bytes: string, cuts: readonly number[]): string[] {
  const ends = [...cuts.map((cut) => Math.floor(Math.min(cut, 1) * bytes.length)), bytes.length]
  ends.sort((a, b) => a - b)
  return ends.map((end, at) => bytes.slice(ends[at - 1] ?? 0, end)).filter((part) => part !== '')
}

/** Sends each step after the previous one is answered. Returns all answers without their dates. */
async function converse(url: string, steps: readonly Step[]): Promise<string> {
  const { socket, received } = await openConnection(url)
  socket.setNoDelay()
  const deadline = performance.now() + DEADLINE_MS
  let wanted = 0
  for (const { messages, cuts } of steps) {
    for (const part of split(messages.join(''), cuts)) {
      socket.write(part, 'latin1')
      // Makes the parts arrive as separate chunks.
      await wait(1)
    }
    wanted += messages.length
    while (countAnswers(received()) < wanted || !received().endsWith('\n')) {
      assert.ok(performance.now() < deadline, `answers are missing after: ${received()}`)
      await nextTurn()
    }
  }
  socket.destroy()
  return received().replaceAll(/^Date: .*\r\n/gm, '')
}

function countAnswers(text: string): number {
  return text.split('HTTP/1.1 200').length - 1
}

describe('a server with the fast path', () => {
  it('answers all requests as a server without it does, in the same order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 7 }), async (steps) => {
        const conversations = [urls.usual, urls.fast].map((url) => converse(url, steps))
        const [usual = '', plain = ''] = await Promise.all(conversations)
        assert.equal(withoutCase(plain), withoutCase(usual))
      }),
      { numRuns: 150 },
    )
    assert.ok(fast.gets > 50 && fast.posts > 50, JSON.stringify(fast))
  })
})

/** The two ways may write header names in different cases. */
function withoutCase(text: string): string {
  return text.toLowerCase()
}

describe('RequestReader.follow', () => {
  it('counts the requests that were sent, however their bytes are split', () => {
    const cut = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.array(plainMessage, { maxLength: 5 }), fc.array(cut), (messages, cuts) => {
        const reader = new RequestReader()
        const parts = split(messages.join(''), cuts)
        const isFramed = parts.every((part) => reader.follow(Buffer.from(part, 'latin1')))
        // The reader gives up on a head in two parts.
        if (!isFramed) return
        assert.deepEqual([reader.followed, reader.isBetweenRequests], [messages.length, true])
      }),
      { numRuns: 1_000 },
    )
  })
})
