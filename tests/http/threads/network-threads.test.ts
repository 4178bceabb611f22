import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request,
  type Server,
} from 'node:http'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { BatchedResponse } from '../../../lib/http/batched-response.ts'
import { installFastPath } from '../../../lib/http/fast-path/fast-path.ts'
import { stopServer } from '../../../lib/http/stop.ts'
import {
  type NetworkThreads,
  startNetworkThreads,
} from '../../../lib/http/threads/network-threads.ts'
import { RelayedSocket } from '../../../lib/http/threads/relayed-socket.ts'
import { findFreePort } from '../../../scripts/parts/start-process.ts'
import { openConnection, parseAnswer, type RawConnection } from '../../support/raw-connection.ts'
import { ON_LINUX } from '../../support/runtime.ts'

/** Many times what all buffers on the way hold. */
const LARGE = 48 * 1024 * 1024
const NEVER_MS = 600_000

/** The server answers with the path. The header `x-way` says who answered. */
let server: Server
let threads: NetworkThreads
let url: string
let usual: RequestListener
const news: unknown[] = []
beforeEach(async () => {
  usual = ({ url: path = '' }, response) => {
    response.writeHead(200, { 'x-way': 'usual', 'content-length': path.length }).end(path)
  }
  const times = { connectionsCheckingInterval: 50, headersTimeout: 400, keepAliveTimeout: 65_000 }
  server = createServer({ ...times, ServerResponse: BatchedResponse }, (given, response) =>
    usual(given, response),
  )
  installFastPath(server, {
    answer: ({ url: json }) =>
      json === '/fast' ? { status: 200, headers: { 'x-way': 'fast' }, json } : null,
    onError: (error) => assert.fail(String(error)),
  })
  // node:http begins to check its time-outs when the server listens, which it does elsewhere here.
  await once(server.listen(0, '127.0.0.1'), 'listening')
  threads = await start()
  const port = await findFreePort()
  await threads.listen({ port, host: '127.0.0.1', reusePort: true })
  url = `http://127.0.0.1:${port}`
})
afterEach(async () => {
  await threads[Symbol.asyncDispose]()
  server.closeAllConnections()
  server.close()
})

function start(): Promise<NetworkThreads> {
  return startNetworkThreads(server, {
    count: 2,
    url: new URL('thread.ts', import.meta.url),
    data: undefined,
    onNews: (given, reply) => {
      news.push(given)
      reply('thanks')
    },
    onCrash: (error) => assert.fail(String(error)),
  })
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`

/** Path and way of each answer in order. */
function answers(text: string): string[] {
  return text
    .split(/(?=HTTP\/1\.1 )/)
    .map(parseAnswer)
    .map(({ headers, body }) => `${body} ${headers.get('x-way')}`)
}

/** Waits until the connection has received `count` answers in all. */
async function receive({ socket, received }: RawConnection, count: number): Promise<void> {
  while (received().split('HTTP/1.1 ').length <= count) await once(socket, 'data')
}

async function ask(connection: RawConnection, path: string): Promise<void> {
  const known = connection.received().split('HTTP/1.1 ').length - 1
  connection.socket.write(get(path))
  await receive(connection, known + 1)
}

/** Returns all answers, with that to one more request for /here. */
async function askHere(connection: RawConnection): Promise<string[]> {
  await ask(connection, '/here')
  return answers(connection.received())
}

/** The server's end of the next connection. */
async function nextSocket(): Promise<RelayedSocket> {
  const [socket] = await once(server, 'connection')
  assert.ok(socket instanceof RelayedSocket)
  return socket
}

describe('a connection of a network thread', ON_LINUX, () => {
  it('answers plain requests itself, once the server has answered all earlier ones', async () => {
    const connection = await openConnection(url)
    await ask(connection, '/first')
    // The thread knows that only a moment after the client.
    const way = async () => (await askHere(connection)).at(-1)
    while ((await way()) !== '/here thread');
    connection.socket.write('POST /here HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi')
    const before = answers(connection.received()).length
    await receive(connection, before + 1)
    assert.equal(answers(connection.received()).at(-1), '/here usual')
    while ((await way()) !== '/here thread');
    connection.socket.destroy()
  })

  it('knows the address and the port of its client, and can be reset', async () => {
    const opened = nextSocket()
    const { socket } = await openConnection(url, '127.0.0.3')
    const failed = new Promise<NodeJS.ErrnoException>((resolve) => socket.once('error', resolve))
    const theirs = await opened
    const { remoteAddress, remotePort } = theirs
    assert.deepEqual([remoteAddress, remotePort], ['127.0.0.3', socket.localPort])
    theirs.resetAndDestroy()
    assert.equal((await failed).code, 'ECONNRESET')
  })

  it('answers in order what a client sends without waiting', async () => {
    usual = async ({ url: path = '' }, response) => {
      await nextTurn()
      response.writeHead(200, { 'x-way': 'usual', 'content-length': path.length }).end(path)
    }
    const connection = await openConnection(url)
    await ask(connection, '/first')
    const sent = Array.from({ length: 300 }, (_, at) => `/${['here', 'fast', at][at % 3]}`)
    for (const [at, path] of sent.entries()) {
      connection.socket.write(get(path))
      if (at % 5 === 0) await nextTurn()
    }
    await receive(connection, sent.length + 1)
    const paths = answers(connection.received()).map((answer) => answer.split(' ')[0])
    assert.deepEqual(paths, ['/first', ...sent])
    connection.socket.destroy()
  })

  it('answers no request that is part of a body, even after an early answer', async () => {
    usual = async (given, response) => {
      response.write('begun ')
      const body = await given.toArray()
      response.end(Buffer.concat(body).toString().toUpperCase())
    }
    const connection = await openConnection(url)
    await ask(connection, '/first')
    const body = get('/here')
    connection.socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`)
    await receive(connection, 2)
    connection.socket.write(body)
    while (!connection.received().includes(body.toUpperCase()))
      await once(connection.socket, 'data')
    connection.socket.destroy()
  })

  it('passes on large bodies both ways, only as fast as they are read', async () => {
    const sent = randomBytes(LARGE)
    const opened = nextSocket()
    let most = 0
    usual = async (given, response) => {
      const theirs = await opened
      const hash = createHash('sha256')
      for await (const chunk of given) {
        most = Math.max(most, theirs.readableLength + given.readableLength)
        hash.update(chunk)
        await nextTurn()
      }
      response.writeHead(200, { 'x-hash': hash.digest('hex'), 'content-length': LARGE })
      response.end(sent)
    }
    const answered = Promise.withResolvers<IncomingMessage>()
    request(url, { method: 'POST' }, answered.resolve).on('error', answered.reject).end(sent)
    const answer = await answered.promise
    const hash = createHash('sha256')
    for await (const chunk of answer) hash.update(chunk)
    const expected = createHash('sha256').update(sent).digest('hex')
    assert.deepEqual([answer.headers['x-hash'], hash.digest('hex')], [expected, expected])
    assert.ok(most < 1024 * 1024, `${most} bytes waited`)
    assert.equal((await opened).bytesRead > LARGE, true)
  })

  it('lets an answer wait while the client does not read', async () => {
    const piece = Buffer.alloc(256 * 1024)
    let written = 0
    const full = Promise.withResolvers<void>()
    usual = async (_, response) => {
      while (written < 4 * LARGE) {
        written += piece.length
        if (response.write(piece)) continue
        const next = once(response, 'drain')
        full.resolve()
        await next
      }
      response.end()
    }
    const { socket } = await openConnection(url)
    socket.pause()
    socket.write(get('/'))
    await full.promise
    let before = -1
    while (before !== written) {
      before = written
      for (let turn = 0; turn < 2_000; turn++) await nextTurn()
    }
    assert.ok(written < LARGE, `${written} bytes were written ahead`)
    socket.destroy()
  })

  it('reports to the handler that the client has left', async () => {
    const left = Promise.withResolvers<void>()
    usual = (_, response) => {
      response.once('close', () => left.resolve())
    }
    const { socket } = await openConnection(url)
    socket.write(get('/'))
    await once(server, 'request')
    socket.resetAndDestroy()
    await left.promise
  })

  it('has the time-outs of node:http', async () => {
    server.keepAliveTimeout = 100
    const idle = await openConnection(url)
    await ask(idle, '/first')
    await idle.ended
    const slow = await openConnection(url)
    slow.socket.write('GET / HTTP/1.1\r\nHost')
    assert.match(await slow.ended, /^HTTP\/1\.1 408 /)
  })
})

describe('several network threads', ON_LINUX, () => {
  it('share the connections, and get replies to their news', async () => {
    const ends = await Promise.all(
      Array.from({ length: 64 }, async () => {
        const connection = await openConnection(url)
        await ask(connection, '/first')
        while ((await askHere(connection)).at(-1) !== '/here thread');
        return connection
      }),
    )
    for (const { socket } of ends) socket.destroy()
    await threads.whenClosed()
    await threads.finish()
    assert.deepEqual(news, [[], []])
  })

  it('refuse an address that another program uses', async () => {
    const address = server.address()
    assert.ok(typeof address === 'object' && address !== null)
    const { port } = address
    await using others = await start()
    await assert.rejects(
      others.listen({ port, host: '127.0.0.1' }),
      /Cannot listen on .*EADDRINUSE; another program/,
    )
  })

  it('stop: new connections are refused, idle ones closed, running requests finish', async () => {
    const running = await openConnection(url)
    const idle = await openConnection(url)
    await ask(idle, '/first')
    const release = Promise.withResolvers<void>()
    const begun = once(server, 'request')
    usual = async (_, response) => {
      await release.promise
      response.end('done')
    }
    running.socket.write(get('/'))
    await begun
    const stopped = stopServer(server, NEVER_MS, threads)
    await idle.ended
    await assert.rejects(fetch(url))
    release.resolve()
    assert.match(await running.ended, /done/)
    await stopped
  })

  it('cut connections at the deadline of a stop', async () => {
    const { socket, ended } = await openConnection(url)
    usual = () => {}
    socket.write(get('/'))
    await once(server, 'request')
    await stopServer(server, 10, threads)
    await ended
  })
})
