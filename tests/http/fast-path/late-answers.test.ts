import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { installFastPath } from '../../../lib/http/fast-path/fast-path.ts'
import { BatchedResponse } from '../../../lib/http/http-server.ts'
import { stopServer } from '../../../lib/http/listen.ts'
import type { WholeRequest } from '../../../lib/http/whole-request.ts'
import type { WholeAnswer } from '../../../lib/http/write-answer.ts'
import { closeServer, listenLocally } from '../../support/loopback-server.ts'
import { openConnection, parseAnswer, type RawConnection } from '../../support/raw-connection.ts'

const NEVER_MS = 600_000

/** The fast path answers a GET at once, and a POST when the test says so. `x-way` says which way answered. */
let server: Server
let url: string
let waiting: { readonly request: WholeRequest; readonly late: PromiseWithResolvers<WholeAnswer> }[]
let bugs: unknown[]
/** How long the thread works on a POST before it waits. */
let msOfPost: number
/** How often node:http has answered. */
let usual: number
beforeEach(async () => {
  waiting = []
  bugs = []
  usual = 0
  msOfPost = 0
  server = createServer({ ServerResponse: BatchedResponse }, async (request, response) => {
    usual += 1
    const body = Buffer.concat(await request.toArray())
    response.writeHead(200, { 'x-way': 'usual' }).end(`${request.url} ${body}`)
  })
  installFastPath(server, { answer, onError: (error) => bugs.push(error) })
  url = await listenLocally(server)
})
afterEach(() => closeServer(server))

function answer(request: WholeRequest): WholeAnswer | Promise<WholeAnswer> {
  if (request.body === null) return toAnswer(request)
  const end = performance.now() + msOfPost
  while (performance.now() < end);
  const late = Promise.withResolvers<WholeAnswer>()
  waiting.push({ request, late })
  return late.promise
}

function toAnswer({ url: path, body }: WholeRequest): WholeAnswer {
  return { status: 200, headers: { 'x-way': 'fast' }, json: `${path} ${Buffer.from(body ?? '')}` }
}

const HOST = 'Host: a.example\r\n'
const get = (path: string) => `GET ${path} HTTP/1.1\r\n${HOST}\r\n`
const post = (path: string, body = path) =>
  `POST ${path} HTTP/1.1\r\n${HOST}Content-Length: ${body.length}\r\n\r\n${body}`

/** Body and way of each answer in order. */
function answers(text: string): string[] {
  return text
    .split(/(?=HTTP\/1\.1 )/)
    .map(parseAnswer)
    .map(({ headers, body }) => `${body} ${headers.get('x-way')}`)
}

/** Waits until the connection has `count` answers in all. */
async function receive({ socket, received }: RawConnection, count: number): Promise<string[]> {
  while (received().split('HTTP/1.1 ').length <= count) await once(socket, 'data')
  return answers(received())
}

/** A connection that has received its first answer, and the server's end of it. */
async function openKept() {
  const accepted = once(server, 'connection')
  const connection = await openConnection(url)
  connection.socket.setNoDelay()
  connection.socket.write(get('/first'))
  await receive(connection, 1)
  const [theirs] = await accepted
  return { connection, theirs }
}

/** Sends POSTs until `count` wait for their answers. */
async function untilWaiting(count: number): Promise<void> {
  while (waiting.length < count) await nextTurn()
}

/** A connection whose POST for /late waits for its answer. */
async function openWaiting() {
  const opened = await openKept()
  opened.connection.socket.write(post('/late'))
  await untilWaiting(1)
  return opened
}

/** Sends bytes, and waits until the server has them. */
async function deliver({ connection, theirs }: Awaited<ReturnType<typeof openKept>>, text: string) {
  const expected = theirs.bytesRead + text.length
  connection.socket.write(text)
  while (theirs.bytesRead < expected) await nextTurn()
}

function answerNext(): void {
  const { request, late } = waiting.shift() ?? assert.fail('no request waits')
  late.resolve(toAnswer(request))
}

describe('an answer of the fast path that comes later', () => {
  it('is sent as node:http would send it, and the connection goes on', async () => {
    const { connection } = await openWaiting()
    answerNext()
    await receive(connection, 2)
    connection.socket.write(post('/again'))
    await untilWaiting(1)
    answerNext()
    await receive(connection, 3)
    connection.socket.write(get('/get'))
    const later = (await receive(connection, 4)).slice(1)
    assert.deepEqual(later, ['/late /late fast', '/again /again fast', '/get  fast'])
  })

  it('comes before the answers to requests that arrive meanwhile', async () => {
    const opened = await openWaiting()
    await deliver(opened, get('/a'))
    for (let turn = 0; turn < 20; turn++) await nextTurn()
    assert.equal(answers(opened.connection.received()).length, 1)
    answerNext()
    assert.deepEqual((await receive(opened.connection, 2)).slice(1, 2), ['/late /late fast'])
    const [, , next] = await receive(opened.connection, 3)
    assert.match(next ?? '', /^\/a /)
    opened.connection.socket.write(get('/b'))
    assert.deepEqual((await receive(opened.connection, 4)).at(-1), '/b  fast')
  })

  it('comes before the answer to a request whose parts arrive meanwhile and afterwards', async () => {
    const opened = await openWaiting()
    const next = post('/next', 'body')
    await deliver(opened, next.slice(0, 30))
    answerNext()
    await receive(opened.connection, 2)
    opened.connection.socket.write(next.slice(30))
    const later = (await receive(opened.connection, 3)).slice(1)
    assert.deepEqual(later, ['/late /late fast', '/next body usual'])
  })

  it('is left to node:http if a GET follows in the same chunk', async () => {
    const { connection } = await openKept()
    connection.socket.write(post('/a') + get('/b'))
    assert.deepEqual((await receive(connection, 3)).slice(1), ['/a /a usual', '/b  usual'])
  })

  it('is left to node:http if the body arrives in parts', async () => {
    const opened = await openKept()
    const { connection } = opened
    await deliver(opened, post('/a', 'body').slice(0, -2))
    connection.socket.write('dy')
    await receive(connection, 2)
    connection.socket.write(get('/b'))
    assert.deepEqual((await receive(connection, 3)).slice(1), ['/a body usual', '/b  fast'])
  })

  it('keeps the server from reading further requests without end', async () => {
    const { connection, theirs } = await openWaiting()
    const { socket } = connection
    for (let n = 0; n < 200; n++) socket.write(get('/a').repeat(2_000))
    for (let turn = 0; turn < 200; turn++) await nextTurn()
    assert.ok(theirs.bytesRead < 1_000_000, `${theirs.bytesRead} bytes were read`)
    answerNext()
    assert.deepEqual((await receive(connection, 3)).slice(1, 3), ['/late /late fast', '/a  usual'])
    socket.destroy()
  })

  for (const leave of ['resetAndDestroy', 'end'] as const) {
    it(`is dropped if the client has left: ${leave}`, async () => {
      const { connection, theirs } = await openWaiting()
      const closed = new Promise((resolve) => theirs.once('close', resolve))
      connection.socket[leave]()
      await closed
      const before = usual
      theirs.write = (text: string) => bugs.push(text)
      answerNext()
      for (let turn = 0; turn < 20; turn++) await nextTurn()
      assert.deepEqual([usual, bugs], [before, []])
    })
  }

  it('harms nobody if the client has left after sending more', async () => {
    const opened = await openWaiting()
    const { connection, theirs } = opened
    await deliver(opened, get('/a'))
    const closed = new Promise((resolve) => theirs.once('close', resolve))
    connection.socket.resetAndDestroy()
    await once(connection.socket, 'close')
    answerNext()
    await closed
    assert.deepEqual(bugs, [])
    const other = await openWaiting()
    answerNext()
    assert.deepEqual((await receive(other.connection, 2)).slice(1), ['/late /late fast'])
  })

  it('is not tried again if it fails, which is a bug: a part may be done', async () => {
    const opened = await openWaiting()
    await deliver(opened, get('/a'))
    const before = usual
    waiting.shift()?.late.reject(new Error('bug'))
    assert.equal(answers(await opened.connection.ended).length, 1)
    assert.equal(usual, before)
    assert.match(String(bugs), /bug/)
  })

  it('waits for its turn if many others take long, while a GET does not', async () => {
    const busy = await Promise.all(Array.from({ length: 10 }, openKept))
    const { connection } = await openKept()
    msOfPost = 3
    for (const { connection: other } of busy) other.socket.write(post('/late'))
    await untilWaiting(1)
    connection.socket.write(get('/get'))
    assert.deepEqual((await receive(connection, 2)).slice(1), ['/get  fast'])
    assert.ok(waiting.length < 10, `${waiting.length} came first`)
    while (waiting.length < 10) await nextTurn()
    while (waiting.length > 0) answerNext()
    for (const { connection: other } of busy) {
      assert.deepEqual((await receive(other, 2)).slice(1), ['/late /late fast'])
    }
  })

  it('is still sent by a server that stops, which closes other connections at once', async () => {
    const idle = await openKept()
    const { connection } = await openWaiting()
    const stopped = stopServer(server, NEVER_MS)
    await idle.connection.ended
    answerNext()
    assert.deepEqual(answers(await connection.ended).slice(1), ['/late /late fast'])
    await stopped
  })

  it('is waited for by a server that stops, but not longer than for others', async () => {
    const { connection } = await openWaiting()
    await stopServer(server, 10)
    await connection.ended
    answerNext()
  })

  it('is not subject to the limit on idle connections', async () => {
    const { connection, theirs } = await openWaiting()
    theirs.setTimeout(1)
    await once(theirs, 'timeout')
    answerNext()
    assert.deepEqual(answers(await connection.ended).slice(1), ['/late /late fast'])
  })
})
