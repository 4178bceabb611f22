import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { installFastPath } from '../../../lib/http/fast-path/fast-path.ts'
import { BatchedResponse } from '../../../lib/http/http-server.ts'
import type { AnswerWhole } from '../../../lib/http/whole-request.ts'
import { closeServer, listenLocally } from '../../support/loopback-server.ts'
import { openConnection, parseAnswer, type RawConnection } from '../../support/raw-connection.ts'

/** The server answers with the path. The header `x-way` says which way answered. */
let server: Server
let url: string
let usual: RequestListener
let plain: AnswerWhole['answer']
const bugs: unknown[] = []
const events = new EventEmitter()
beforeEach(async () => {
  usual = ({ url = '' }, response) => {
    response.writeHead(200, { 'x-way': 'usual', 'content-length': url.length }).end(url)
  }
  plain = ({ url: json, body }) =>
    body === null ? { status: 200, headers: { 'x-way': 'plain' }, json } : null
  const times = { connectionsCheckingInterval: 50, keepAliveTimeout: 65_000 }
  const options = { ...times, ServerResponse: BatchedResponse }
  server = createServer(options, (request, response) => usual(request, response))
  const onError = (error: unknown) => bugs.push(error)
  installFastPath(server, { answer: (request) => plain(request), onError })
  url = await listenLocally(server)
})
afterEach(() => closeServer(server))

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`

/** Path and way of each answer in order. */
function answers(text: string): string[] {
  return text
    .split(/(?=HTTP\/1\.1 )/)
    .map(parseAnswer)
    .map(({ headers, body }) => `${body.slice(0, 9)} ${headers.get('x-way')}`)
}

/** Fails unless these are path and way of the answers after the first one. */
function assertLater({ received }: RawConnection, ...expected: readonly string[]): void {
  assert.deepEqual(answers(received()).slice(1), expected)
}

/** Writes `bytes` and waits until `count` more answers have arrived. */
async function ask(connection: RawConnection, bytes: string, count = 1): Promise<void> {
  connection.socket.write(bytes, 'latin1')
  await receive(connection, count)
}

async function receive({ socket, received }: RawConnection, count: number): Promise<void> {
  const wanted = received().split('HTTP/1.1 ').length + count
  while (received().split('HTTP/1.1 ').length < wanted) await once(socket, 'data')
}

/** A connection that has received its first answer. */
async function openKept(): Promise<RawConnection> {
  const connection = await openConnection(url)
  await ask(connection, get('/first'))
  return connection
}

describe('the fast path of a keep-alive connection', () => {
  it('answers plain GET requests from the second request on', async () => {
    const connection = await openKept()
    for (const path of ['/a', '/b', '/c']) await ask(connection, get(path))
    assert.deepEqual(answers(connection.received()).slice(0, 1), ['/first usual'])
    assertLater(connection, '/a plain', '/b plain', '/c plain')
  })

  it('writes the same head as node:http', async () => {
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

  it('continues after requests that it left to node:http', async () => {
    const all = plain
    plain = (request) => (request.url === '/other' ? null : all(request))
    const connection = await openKept()
    for (const path of ['/a', '/other', '/b']) await ask(connection, get(path))
    assertLater(connection, '/a plain', '/other usual', '/b plain')
  })

  it('continues after requests that were sent together', async () => {
    const connection = await openKept()
    await ask(connection, get('/a'))
    await ask(connection, get('/b') + get('/c'), 2)
    await ask(connection, get('/d'))
    assertLater(connection, '/a plain', '/b usual', '/c usual', '/d plain')
  })

  it('continues after a POST, even if its body arrives in parts', async () => {
    usual = (request, response) => {
      request.resume().once('end', () => {
        response.writeHead(200, { 'x-way': 'usual', 'content-length': 4 }).end('read')
      })
    }
    const connection = await openKept()
    const post = 'POST /b HTTP/1.1\r\nHost: a.example\r\nContent-Length: 2\r\n\r\n'
    await ask(connection, `${post}ab`)
    await ask(connection, get('/c'))
    const arrived = once(server, 'request')
    connection.socket.write(`${post}a`)
    await arrived
    await ask(connection, 'b')
    await ask(connection, get('/d'))
    assert.deepEqual(answers(connection.received()).slice(0, 1), ['read usual'])
    assertLater(connection, 'read usual', '/c plain', 'read usual', '/d plain')
  })

  it('continues after a HEAD', async () => {
    usual = (_, response) => response.writeHead(200, { 'x-way': 'usual' }).end()
    const connection = await openKept()
    await ask(connection, 'HEAD /a HTTP/1.1\r\nHost: a.example\r\n\r\n')
    await ask(connection, get('/b'))
    assert.deepEqual(answers(connection.received()), [' usual', ' usual', '/b plain'])
  })

  it('continues after a 401 to a request whose body was not read', async () => {
    usual = (_, response) => {
      response.writeHead(401, { 'x-way': 'usual', 'content-length': 2 }).end('no')
    }
    const connection = await openKept()
    const body = get('/smuggled').repeat(1_000)
    const head = `POST / HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${body.length}\r\n\r\n`
    await ask(connection, head)
    await new Promise((resolve) => connection.socket.write(body, resolve))
    // The first one may arrive together with the body.
    await ask(connection, get('/a'))
    await ask(connection, get('/b'))
    const [first, second, , last] = answers(connection.received())
    assert.deepEqual([first, second, last], ['no usual', 'no usual', '/b plain'])
    assert.equal(answers(connection.received()).length, 4)
  })

  const ends: Readonly<Record<string, string>> = {
    'a body in chunks': 'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'a length without a blank': 'Content-Length:0\r\n\r\n',
    'an oddly written header': 'X:a\r\n\r\n',
  }
  for (const [name, end] of Object.entries(ends)) {
    it(`leaves the connection to node:http for good after ${name}`, async () => {
      const connection = await openKept()
      await ask(connection, get('/a'))
      await ask(connection, `POST /b HTTP/1.1\r\nHost: a.example\r\n${end}`)
      for (const path of ['/c', '/d']) await ask(connection, get(path))
      assertLater(connection, '/a plain', '/b usual', '/c usual', '/d usual')
    })
  }

  it('leaves the connection to node:http for good after an incomplete head', async () => {
    const accepted = once(server, 'connection')
    const connection = await openKept()
    const [theirs] = await accepted
    const [first, second] = [get('/a').slice(0, 20), get('/a').slice(20)]
    const read = theirs.bytesRead + first.length
    connection.socket.write(first)
    while (theirs.bytesRead < read) await nextTurn()
    await ask(connection, second)
    await ask(connection, get('/b'))
    assertLater(connection, '/a usual', '/b usual')
  })

  it('does not mistake a body for a request', async () => {
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
    assert.deepEqual(answers(connection.received()), ['early null', 'early null', '/a plain'])
  })

  it('keeps the answers in order if node:http is slow', async () => {
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
    // Windows may read the bytes of a client before it sends answers.
    await receive(connection, 2)
    await ask(connection, get('/last'))
    assertLater(connection, 'slow null', 'usual null', '/last plain')
  })

  it('answers a client that closes its side of the connection at once', async () => {
    const { socket, ended } = await openKept()
    socket.end(get('/last'))
    assert.deepEqual(answers(await ended), ['/first usual', '/last plain'])
  })

  it('sends its answers before the server closes idle connections', async () => {
    const all = plain
    plain = (request) => {
      queueMicrotask(() => server.closeIdleConnections())
      return all(request)
    }
    const { socket, ended } = await openKept()
    socket.write(get('/last'))
    assert.deepEqual(answers(await ended), ['/first usual', '/last plain'])
  })

  it('leaves requests to node:http while the client does not read its answers', async () => {
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

  it('keeps the timeouts of node:http: silence is allowed, half a request is not', async () => {
    const [kept, silent] = await Promise.all([openKept(), openConnection(url)])
    await ask(kept, get('/a'))
    // node:http reads these at each check.
    server.headersTimeout = 200
    server.requestTimeout = 200
    await silent.ended
    await ask(kept, get('/b'))
    kept.socket.write('GET /half HTTP/1.1\r\n')
    assert.match(await kept.ended, /\/bHTTP\/1\.1 408 /)
  })

  it('leaves a request to node:http and reports the bug if it throws', async () => {
    plain = () => {
      throw new Error('bug')
    }
    const connection = await openKept()
    await ask(connection, get('/a'))
    assert.deepEqual(answers(connection.received()), ['/first usual', '/a usual'])
    assert.match(String(bugs.pop()), /bug/)
  })
})
