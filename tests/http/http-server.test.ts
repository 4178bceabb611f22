import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { installFastPath } from '../../lib/http/fast-path/fast-path.ts'
import {
  BatchedResponse,
  createHttpServer,
  serveExpectations,
  serveHttp10,
} from '../../lib/http/http-server.ts'
import { limitPipelining } from '../../lib/http/limit-pipelining.ts'
import { closeServer, listenLocally } from '../support/loopback-server.ts'
import { exchange, openConnection } from '../support/raw-connection.ts'

const NO_FAST_PATH = { answer: () => null, onError: (error: unknown) => assert.fail(String(error)) }

/** Sends the bytes to the server. Returns everything that it sends until it closes the connection. */
async function exchangeWith(server: Server, bytes: string): Promise<string> {
  const text = await exchange(await listenLocally(server), bytes)
  await closeServer(server)
  return text
}

describe('a request that is the last of its connection', () => {
  it('drops no answer to an earlier request, even if one of those still waits', async () => {
    const server = createHttpServer(
      ({ url }, response) => {
        response.end(`served ${url}`)
      },
      {
        connections: { total: 10, perAddress: 10, proxies: [], onRefused: () => assert.fail() },
        answerUnreadable: () => ({ status: 400, headers: {}, json: '{}' }),
        answerWhole: NO_FAST_PATH,
      },
    )
    const requests = [
      'GET /first HTTP/1.1\r\nHost: a\r\n\r\n',
      'GET /waits HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n',
      'GET /last HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ]
    const text = await exchangeWith(server, requests.join(''))
    const served = text.match(/served \/[a-z]+/g)
    assert.deepEqual(served, ['served /first', 'served /waits', 'served /last'])
  })
})

describe('a request with Upgrade', () => {
  it('is the last of its connection, whatever follows it', async () => {
    const paths: (string | undefined)[] = []
    const server = createServer(
      serveHttp10(({ url }, response) => {
        paths.push(url)
        response.end('served')
      }),
    )
    installFastPath(server, NO_FAST_PATH)
    const hidden = `GET /hidden HTTP/1.1\r\nHost: a\r\nx: ${'y'.repeat(200)}\r\n\r\n`
    const upgrade = 'GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: h2c\r\n'
    const post = `POST /post HTTP/1.1\r\nHost: a\r\nContent-Length: ${hidden.length}\r\n`
    const padding = `x: ${'y'.repeat(200)}\r\n\r\n`
    const text = await exchangeWith(server, upgrade + padding + post + padding + hidden)
    assert.match(text, /^HTTP\/1\.1 200 OK\r\n.*Connection: close\r\n.*served$/s)
    assert.deepEqual(paths, ['/upgrade'])
  })
})

describe('BatchedResponse', () => {
  /** Sends the requests in one packet and returns everything that the server sends. */
  const ask = (paths: readonly string[], listener: RequestListener) => {
    const requests = paths.map((path, at) => {
      const end = at === paths.length - 1 ? 'Connection: close\r\n' : ''
      return `GET ${path} HTTP/1.1\r\nHost: a.example\r\n${end}\r\n`
    })
    const server = createServer({ ServerResponse: BatchedResponse }, listener)
    return exchangeWith(server, requests.join(''))
  }
  const writeParts = (response: ServerResponse) => {
    response.write('one,')
    response.end('two')
  }

  it('answers all requests that arrived together before it sends the first answer', async () => {
    const events: string[] = []
    const received = await ask(['/a', '/b', '/c'], (request, response) => {
      events.push(`answer ${request.url}`)
      response.once('finish', () => events.push(`sent ${request.url}`))
      response.end(`this is ${request.url}`)
    })
    assert.deepEqual(received.match(/this is \/./g), ['this is /a', 'this is /b', 'this is /c'])
    assert.deepEqual(events.slice(0, 3), ['answer /a', 'answer /b', 'answer /c'])
    assert.deepEqual(events.slice(3), ['sent /a', 'sent /b', 'sent /c'])
  })

  it('supports every way to end a response', async () => {
    const done = Promise.withResolvers<void>()
    const paths = ['/nothing', '/parts', '/bytes', '/encoded']
    const received = await ask(paths, (request, response) => {
      if (request.url === '/nothing') response.writeHead(204).end()
      else if (request.url === '/parts') writeParts(response)
      else if (request.url === '/bytes') response.end(Buffer.from('bytes'))
      else response.end('e9', 'hex', done.resolve)
    })
    await done.promise
    assert.match(received, /204 No Content.*one,.*two.*bytes.*Content-Length: 1\r.*\xe9$/s)
  })

  it('survives a client that disconnects before the end', async () => {
    const received = await ask(['/leave', '/left'], (request, response) => {
      response.end('late')
      if (request.url === '/leave') request.socket.destroy()
    })
    assert.equal(received, '')
    assert.match(await ask(['/'], (_, response) => response.end('well')), /well/)
  })
})

const GET = 'GET /first HTTP/1.1\r\nHost: a\r\n\r\n'
const post = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`

/** First lines and bodies. */
function linesOf(text: string): string[] {
  return text.split(/\r\n|(?=HTTP)/).filter((line) => /^(HTTP|>|no)/.test(line))
}

describe('a request with the header Expect', () => {
  let server: Server
  let url: string
  beforeEach(async () => {
    const listener = serveExpectations(async (request, response) => {
      if (request.url === '/refused') {
        response.writeHead(401, { 'content-length': 2 }).end(Buffer.from('no'))
        return
      }
      const body = (await request.toArray()).join('')
      await nextTurn()
      response.writeHead(200, { 'content-length': body.length + 1 }).write('>')
      response.end(body)
    })
    server = createServer(listener)
    url = await listenLocally(server)
  })
  afterEach(() => closeServer(server))

  it('gets 100 Continue before its body arrives', async () => {
    const { socket, received, ended } = await openConnection(url)
    socket.write(post('/'))
    while (!received().includes('100 Continue')) await nextTurn()
    socket.write('body')
    assert.deepEqual(linesOf(await ended), ['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK', '>body'])
  })

  it('gets 100 Continue after the answer to the request before it, and before its own', async () => {
    const text = await exchange(url, `${GET}${post('/')}body`)
    assert.deepEqual(linesOf(text), [
      ...['HTTP/1.1 200 OK', '>'],
      ...['HTTP/1.1 100 Continue', 'HTTP/1.1 200 OK', '>body'],
    ])
  })

  it('gets 100 Continue before an early answer, not within it', async () => {
    const text = await exchange(url, `${GET}${post('/refused')}body`)
    assert.deepEqual(linesOf(text), [
      ...['HTTP/1.1 200 OK', '>'],
      ...['HTTP/1.1 100 Continue', 'HTTP/1.1 401 Unauthorized', 'no'],
    ])
  })
})

describe('a connection that sends many requests at once', () => {
  let server: Server
  let url: string
  beforeEach(async () => {
    server = createServer({ ServerResponse: BatchedResponse })
    const serve = limitPipelining(server, (_, response) => void response.end('served'), 16)
    server.on('request', serve)
    url = await listenLocally(server)
    mock.timers.enable({ apis: ['setTimeout'] })
  })
  afterEach(async () => {
    mock.timers.reset()
    await closeServer(server)
  })
  const answersTo = async (requests: number) => {
    const text = await exchange(url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests))
    return text.match(/served/g)?.length ?? 0
  }

  it('gets the first sixteen answers, then is closed', async () => {
    assert.equal(await answersTo(17), 16)
    assert.equal(await answersTo(63), 16)
    assert.equal(await answersTo(16), 16)
  })

  it('gets none if it sends 64, and its address cannot connect for two seconds', async () => {
    assert.equal(await answersTo(64), 0)
    assert.equal(await answersTo(16), 0)
    mock.timers.tick(1_999)
    assert.equal(await answersTo(16), 0)
    mock.timers.tick(1)
    assert.equal(await answersTo(16), 16)
  })
})
