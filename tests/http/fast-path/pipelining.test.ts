import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from 'node:http'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { installFastPath } from '../../../lib/http/fast-path/fast-path.ts'
import { MAX_IN_TURN } from '../../../lib/http/fast-path/turns.ts'
import { closeServer, listenLocally } from '../../support/loopback-server.ts'
import { openConnection } from '../../support/raw-connection.ts'

const MOST = 16

/** The server answers only when the test says so. */
let server: Server
let url: string
let waiting: ServerResponse[]
let most: number
beforeEach(async () => {
  waiting = []
  most = 0
  const listener: RequestListener = (request, response) => {
    waiting.push(response)
    most = Math.max(most, waiting.length)
    request.resume()
  }
  server = createServer(listener)
  installFastPath(server, { answer: () => null, onError: (error) => assert.ifError(error) })
  url = await listenLocally(server)
})
afterEach(() => closeServer(server))

/** Answers requests with their paths, `times` at a time, until `count` are answered. */
async function answerAll(count: number, times: number): Promise<void> {
  for (let answered = 0; answered < count; ) {
    while (waiting.length === 0) await nextTurn()
    for (const response of waiting.splice(0, times)) {
      response.end(`${response.req.url} `)
      answered += 1
    }
    await nextTurn()
  }
}

const pathsOf = (text: string) => [...text.matchAll(/\/\d+(?= )/g)].map(([path]) => path)
const allPaths = (count: number) => Array.from({ length: count }, (_, n) => `/${n}`)

describe('requests that a client sends without waiting for answers', () => {
  for (const times of [1, 5, MOST]) {
    it(`are started ${MOST} at a time, and all answered in order, ${times} at once`, async () => {
      const count = 2_000
      const { socket, received } = await openConnection(url)
      const bytes = Array.from({ length: count }, (_, n) => `GET /${n} HTTP/1.1\r\nHost:a\r\n\r\n`)
      socket.write(bytes.join(''))
      await answerAll(count, times)
      while (pathsOf(received()).length < count) await once(socket, 'data')
      assert.deepEqual(pathsOf(received()), allPaths(count))
      assert.ok(most <= MOST && most > 1, `${most}`)
    })
  }

  it('are started few at a time, on however many connections', async () => {
    const [connections, count] = [20, 100]
    let [started, mostStarted, total] = [0, 0, 0]
    const { promise: isOver, resolve } = Promise.withResolvers<void>()
    server.on('request', (_, response: ServerResponse) => {
      if (started === 0) {
        setImmediate(() => {
          mostStarted = Math.max(mostStarted, started)
          started = 0
        })
      }
      started += 1
      total += 1
      response.end()
      if (total === connections * count) resolve()
    })
    // Longer than a slice: the first one of each connection may start at once.
    const request = `GET / HTTP/1.1\r\nHost:a\r\nx:${'y'.repeat(200)}\r\n\r\n`
    const opened = await Promise.all(Array.from({ length: connections }, () => openConnection(url)))
    for (const { socket } of opened) socket.write(request.repeat(count))
    await isOver
    await nextTurn()
    assert.ok(mostStarted <= connections + MAX_IN_TURN, `${mostStarted}`)
    assert.ok(mostStarted > 1, `${mostStarted}`)
  })

  it('may have bodies, and arrive in any parts', async () => {
    const posts = Array.from({ length: 200 }, (_, n) => {
      const body = '\r\n\r\nGET /x HTTP/1.1\r\n\r\n'.repeat(n % 7)
      return `POST /${n} HTTP/1.1\r\nHost:a\r\nContent-Length:${body.length}\r\n\r\n${body}`
    })
    const { socket, received } = await openConnection(url)
    const text = posts.join('')
    for (let at = 0, length = 1; at < text.length; at += length, length = (length * 7) % 1_009) {
      socket.write(text.slice(at, at + length))
    }
    await answerAll(posts.length, 3)
    while (pathsOf(received()).length < posts.length) await once(socket, 'data')
    assert.deepEqual(pathsOf(received()), allPaths(posts.length))
    assert.ok(most <= MOST, `${most}`)
  })

  it('are all answered if the client begins to read late', async () => {
    const count = 200
    const { socket, received } = await openConnection(url)
    socket.pause()
    const answer = 'x'.repeat(100_000)
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      waiting.length = 0
      setImmediate(() => response.end(`${request.url} ${answer}`))
    })
    for (let n = 0; n < count; n++) socket.write(`GET /${n} HTTP/1.1\r\nHost:a\r\n\r\n`)
    for (let n = 0; n < 100; n++) await nextTurn()
    socket.resume()
    while (received().length < count * answer.length) await once(socket, 'data')
    assert.deepEqual(pathsOf(received()), allPaths(count))
  })

  it('are not read behind CONNECT, whose connection has given its parser back', async () => {
    const tunnel = once(server, 'connect')
    const { socket } = await openConnection(url)
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost:a\r\nx:${'y'.repeat(100)}\r\n\r\n`
    socket.write(get('/before').repeat(20))
    socket.write(`CONNECT a:1 HTTP/1.1\r\nHost:a\r\n\r\n${get('/behind')}`)
    await answerAll(20, 1)
    const [, tunnelled] = await tunnel
    const other = await openConnection(url)
    other.socket.write('GET /other HTTP/1.1\r\nHost:a\r\n')
    for (let n = 0; n < 20; n++) {
      socket.write(get('/behind'))
      await nextTurn()
    }
    other.socket.write('\r\n')
    await answerAll(1, 1)
    while (!other.received().endsWith('/other ')) await once(other.socket, 'data')
    tunnelled.destroy()
    assert.equal(waiting.length, 0)
  })

  it('are no longer read while none is answered', async () => {
    const { socket } = await openConnection(url)
    const request = 'GET / HTTP/1.1\r\nHost:a\r\n\r\n'
    const arrived = once(server, 'request')
    // More than the buffers of both sides hold.
    for (let n = 0; n < 200; n++) socket.write(request.repeat(2_000))
    await arrived
    for (let n = 0; n < 100; n++) await nextTurn()
    assert.ok(waiting.length <= MOST, `${waiting.length}`)
    assert.ok(socket.writableLength > 0, 'the client has to wait')
  })
})
