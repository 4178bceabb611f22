import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { BatchedResponse } from '../../lib/batched-response.ts'
import { answerPlainRequests, type PlainOptions } from '../../lib/plain-connections.ts'
import { openConnection, parseAnswer, type RawConnection } from '../raw-connection.ts'

/** The server answers each path with its name, and says by `x-way` who has answered. */
let server: Server
let url: string
let usual: RequestListener
let plain: PlainOptions['answer']
const bugs: unknown[] = []
const events = new EventEmitter()
beforeEach(async () => {
  usual = ({ url = '' }, response) => {
    response.writeHead(200, { 'x-way': 'usual', 'content-length': url.length }).end(url)
  }
  plain = ({ url: json }) => ({ status: 200, headers: { 'x-way': 'plain' }, json })
  const limits = { headersTimeout: 200, requestTimeout: 200, connectionsCheckingInterval: 50 }
  const options = { ...limits, keepAliveTimeout: 65_000, ServerResponse: BatchedResponse }
  server = createServer(options, (request, response) => usual(request, response))
  answerPlainRequests(server, {
    answer: (request) => plain(request),
    onError: (error) => bugs.push(error),
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  // safe: it listens on a port
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterEach(async () => {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
})

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`

/** Who has answered which path, in the order of the answers. */
function answers(text: string): string[] {
  return text
    .split(/(?=HTTP\/1\.1 )/)
    .map(parseAnswer)
    .map(({ headers, body }) => `${body.slice(0, 9)} ${headers.get('x-way')}`)
}

/** Writes `bytes`, and waits until so many more answers have come. */
async function ask(connection: RawConnection, bytes: string, count = 1): Promise<void> {
  const { socket, received } = connection
  const wanted = received().split('HTTP/1.1 ').length + count
  socket.write(bytes, 'latin1')
  while (received().split('HTTP/1.1 ').length < wanted) await once(socket, 'data')
}

/** A connection that has had its first answer. */
async function openKept(): Promise<RawConnection> {
  const connection = await openConnection(url)
  await ask(connection, get('/first'))
  return connection
}

describe('a kept connection', () => {
  it('has its plain requests answered past node:http, from the second one on', async () => {
    const connection = await openKept()
    for (const path of ['/a', '/b', '/c']) await ask(connection, get(path))
    assert.deepEqual(answers(connection.received()), [
      '/first usual',
      '/a plain',
      '/b plain',
      '/c plain',
    ])
  })

  it('gets the same head on both ways', async () => {
    usual = (_, response) => {
      response.writeHead(201, { 'x-a': 'b', 'content-length': 4 }).end('é!!', 'utf8')
    }
    plain = () => ({ status: 201, headers: { 'x-a': 'b' }, json: 'é!!' })
    const connection = await openKept()
    await ask(connection, get('/'))
    const [first, second] = connection.received().split(/(?=HTTP\/1\.1 )/)
    const withoutDate = (text = '') => text.replace(/^Date: \w{3}, .* GMT$/m, 'Date')
    assert.equal(withoutDate(second), withoutDate(first))
  })

  it('goes on with what is answered by node:http in between', async () => {
    const all = plain
    plain = (request) => (request.url === '/other' ? null : all(request))
    const connection = await openKept()
    for (const path of ['/a', '/other', '/b']) await ask(connection, get(path))
    assert.deepEqual(answers(connection.received()).slice(1), [
      '/a plain',
      '/other usual',
      '/b plain',
    ])
  })

  it('belongs to node:http once anything came that is not plain', async () => {
    const connection = await openKept()
    await ask(connection, get('/a'))
    await ask(connection, get('/b') + get('/c'), 2)
    await ask(connection, get('/d'))
    assert.deepEqual(answers(connection.received()).slice(1), [
      '/a plain',
      '/b usual',
      '/c usual',
      '/d usual',
    ])
  })

  it('takes no body for a request', async () => {
    usual = (request, response) => {
      request.on('data', (chunk) => events.emit('body', String(chunk)))
      response.setHeader('content-length', 5).end('early')
    }
    const connection = await openKept()
    const smuggled = get('/smuggled')
    const head = `POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${smuggled.length}\r\n\r\n`
    await ask(connection, head)
    const body = once(events, 'body')
    connection.socket.write(smuggled)
    assert.deepEqual(await body, [smuggled])
    await ask(connection, get('/a'))
    assert.deepEqual(answers(connection.received()), Array(3).fill('early null'))
  })

  it('gets its answers in order, whoever is slow', async () => {
    usual = (request, response) => {
      if (request.url === '/slow')
        events.emit('slow', () => response.setHeader('content-length', 4).end('slow'))
      else response.setHeader('content-length', 5).end('usual')
    }
    const all = plain
    plain = (request) => (request.url === '/slow' ? null : all(request))
    const connection = await openKept()
    const slow = once(events, 'slow')
    connection.socket.write(get('/slow'))
    const [finish] = await slow
    const next = once(server, 'request')
    connection.socket.write(get('/next'))
    await next
    finish()
    await ask(connection, get('/last'), 3)
    assert.deepEqual(answers(connection.received()).slice(1), [
      'slow null',
      'usual null',
      '/last plain',
    ])
  })

  it('is answered where the client ends its side at once', async () => {
    const { socket, ended } = await openKept()
    socket.end(get('/last'))
    assert.deepEqual(answers(await ended), ['/first usual', '/last plain'])
  })

  it('is answered before the server closes idle connections', async () => {
    const all = plain
    plain = (request) => {
      queueMicrotask(() => server.closeIdleConnections())
      return all(request)
    }
    const { socket, ended } = await openKept()
    socket.write(get('/last'))
    assert.deepEqual(answers(await ended), ['/first usual', '/last plain'])
  })

  it('is left to node:http while the client does not take what it is sent', async () => {
    const large = '"'.padEnd(32 * 1024 * 1024, 'a')
    plain = () => ({ status: 200, headers: {}, json: large })
    const { socket } = await openKept()
    socket.pause()
    socket.write(get('/large'))
    await once(socket, 'readable')
    const next = once(server, 'request')
    socket.write(get('/next'))
    const [{ url: path }] = await next
    assert.equal(path, '/next')
    socket.destroy()
  })

  it('may be silent for as long as any other, but not with half a request', async () => {
    const [kept, silent] = await Promise.all([openKept(), openConnection(url)])
    await ask(kept, get('/a'))
    await silent.ended
    await ask(kept, get('/b'))
    kept.socket.write('GET /half HTTP/1.1\r\n')
    assert.match(await kept.ended, /\/bHTTP\/1\.1 408 /)
  })

  it('is answered by node:http where we fail, and the bug is told', async () => {
    plain = () => {
      throw new Error('bug')
    }
    const connection = await openKept()
    await ask(connection, get('/a'))
    assert.deepEqual(answers(connection.received()), ['/first usual', '/a usual'])
    assert.match(String(bugs.pop()), /bug/)
  })
})
