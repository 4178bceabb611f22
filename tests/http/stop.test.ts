import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { createHttpServer } from '../../lib/http/http-server.ts'
import { stopServer } from '../../lib/http/listen.ts'
import { listenLocally } from '../support/loopback-server.ts'

const NEVER_MS = 600_000

describe('stopServer', () => {
  it('lets a running request finish, then closes its connection', async () => {
    const started = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    // By itself the client would keep the connection open.
    const server = createServer({ keepAliveTimeout: NEVER_MS }, async (_, response) => {
      started.resolve()
      await release.promise
      response.end('done')
    })
    const url = await listenLocally(server)
    const answer = fetch(url).then((response) => response.text())
    await started.promise
    const stopped = stopServer(server, NEVER_MS)
    await assert.rejects(fetch(url), 'new connections are refused')
    release.resolve()
    assert.equal(await answer, 'done')
    await stopped
  })

  it('does not wait for idle connections', async () => {
    const server = createServer({ keepAliveTimeout: NEVER_MS }, (_, response) => response.end('ok'))
    await (await fetch(await listenLocally(server))).text()
    await stopServer(server, NEVER_MS)
    assert.equal(server.listening, false)
  })

  it('cuts open connections at the deadline', async () => {
    const server = createServer(() => {})
    const { hostname, port } = new URL(await listenLocally(server))
    const socket = connect(Number(port), hostname)
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    socket.on('error', () => {})
    await once(server, 'request')
    const closed = once(socket, 'close')
    await stopServer(server, 10)
    await closed
  })

  it('cuts connections that node:http has forgotten, such as after CONNECT, at the deadline', async () => {
    const limits = { total: 10, perAddress: 10, proxies: [], onRefused: () => assert.fail() }
    // Never answered, so the answer to CONNECT waits.
    const server = createHttpServer(() => {}, {
      connections: limits,
      answerUnreadable: () => ({ status: 400, headers: {}, json: '{}' }),
      answerWhole: { answer: () => null, onError: assert.ifError },
    })
    const { hostname, port } = new URL(await listenLocally(server))
    const socket = connect(Number(port), hostname)
    socket.on('error', () => {})
    const connected = once(server, 'connect')
    socket.write('GET /never HTTP/1.1\r\nHost: a\r\n\r\nCONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n')
    await connected
    const closed = once(socket, 'close')
    await stopServer(server, 10)
    await closed
  })

  it('accepts a server that never listened', async () => {
    await stopServer(createServer(), NEVER_MS)
  })
})
