import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { createClientErrorListener } from '../../lib/client-error.ts'
import { type FrontLimits, listenByNet } from '../../lib/net-front.ts'
import { answerPlainRequests } from '../../lib/plain-connections.ts'
import { openConnection } from '../raw-connection.ts'

const HOUR_MS = 3_600_000
const WIDE: FrontLimits = {
  headersTimeout: HOUR_MS,
  requestTimeout: HOUR_MS,
  keepAliveTimeout: HOUR_MS,
  connectionsCheckingInterval: 20,
}
const SOON_MS = 100
const LATE_MS = 4 * SOON_MS
const GET = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'

let server: Server
let sockets: Socket[] = []
afterEach(() => {
  for (const socket of sockets) socket.destroy()
  sockets = []
  server.close()
})

/** Answers /plain past node:http, everything else by it once the body has come, and /slow late. */
async function listen(limits: Partial<FrontLimits>): Promise<string> {
  // Node.js has time-outs of its own for what it reads, once it listens; but this one at once.
  server = createServer({ keepAliveTimeout: HOUR_MS }, (request, response) => {
    const end = () => {
      response.end('read')
    }
    if (request.url === '/early') return end()
    request.resume().once('end', () => (request.url === '/slow' ? setTimeout(end, LATE_MS) : end()))
  })
  server.on('connection', (socket: Socket) => sockets.push(socket))
  const late = { status: 408, headers: {}, json: null }
  server.on(
    'clientError',
    createClientErrorListener(() => late),
  )
  listenByNet(server, { ...WIDE, ...limits })
  answerPlainRequests(server, {
    answer: ({ url }) => (url === '/plain' ? { status: 200, headers: {}, json: '"plain"' } : null),
    onError: (error) => assert.fail(String(error)),
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // safe: it listens on a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a connection of the front', () => {
  it('is closed without a word on which nothing comes', async () => {
    const { ended } = await openConnection(await listen({ headersTimeout: SOON_MS }))
    assert.equal(await ended, '')
  })

  it('is answered 408 where the head does not end', async () => {
    const { socket, ended } = await openConnection(await listen({ headersTimeout: SOON_MS }))
    socket.write('GET / HTTP/1.1\r\n')
    assert.match(await ended, /^HTTP\/1\.1 408 /)
  })

  it('is answered 408 where the body does not end', async () => {
    const { socket, ended } = await openConnection(await listen({ requestTimeout: SOON_MS }))
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na')
    assert.match(await ended, /^HTTP\/1\.1 408 /)
  })

  it('is closed where no other request comes', async () => {
    const { socket, ended } = await openConnection(await listen({ keepAliveTimeout: SOON_MS }))
    socket.write(GET)
    assert.match(await ended, /^HTTP\/1\.1 200 OK\r\n[\s\S]*read$/)
  })

  it('is answered 408 where a later head does not end', async () => {
    const url = await listen({ headersTimeout: SOON_MS })
    const { socket, received, ended } = await openConnection(url)
    socket.write(GET)
    while (!received().endsWith('read')) await wait(5)
    socket.write('GET / HTTP/1.1\r\n')
    assert.match(await ended, /read[\s\S]*HTTP\/1\.1 408 /)
  })

  it('may wait for another request for as long as that may take, however it was answered', async () => {
    const url = await listen({ headersTimeout: SOON_MS })
    const { socket, received } = await openConnection(url)
    const ask = async (path: string) => {
      const before = received().length
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      while (!/read$|"plain"$/.test(received().slice(before))) await wait(5)
      await wait(3 * SOON_MS)
      return received().slice(before)
    }
    assert.match(await ask('/first'), /read$/)
    assert.match(await ask('/plain'), /"plain"$/)
    assert.match(await ask('/plain'), /"plain"$/)
    assert.match(await ask('/last'), /read$/)
  })

  it('stays where its answer came before its body', async () => {
    const url = await listen({ headersTimeout: SOON_MS })
    const { socket, received } = await openConnection(url)
    socket.write('POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\na')
    while (!received().endsWith('read')) await wait(5)
    socket.write('b')
    await wait(LATE_MS)
    assert.equal(socket.readyState, 'open')
    assert.match(received(), /read$/)
  })

  it('is not waited for while one of two answers is made', async () => {
    const url = await listen({ headersTimeout: SOON_MS })
    const { socket, received } = await openConnection(url)
    socket.write(`${GET}${GET.replace('/', '/slow')}GET /x`)
    await wait(2 * LATE_MS)
    assert.match(received(), /read[\s\S]*HTTP\/1\.1 200 OK[\s\S]*read/)
  })

  it('is closed at once where the client says that its request is the last', async () => {
    const { socket, ended } = await openConnection(await listen({}))
    socket.write(GET.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n'))
    assert.match(await ended, /read$/)
  })

  it('is not waited for while its answer is made', async () => {
    const url = await listen({ headersTimeout: SOON_MS, requestTimeout: SOON_MS })
    assert.equal(await (await fetch(`${url}/slow`)).text(), 'read')
  })
})
