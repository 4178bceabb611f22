import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { limitConnections } from '../../lib/http/connections.ts'
import { createPerConnection } from '../../lib/http/per-connection.ts'
import { listenLocally } from '../support/loopback-server.ts'
import { exchange, openConnection } from '../support/raw-connection.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'

const server = createServer((_, response) => response.end('ok'))
const notes = createPerConnection<ServerResponse>()
const others = createPerConnection<string>()
let url: string
before(async () => {
  const limits = { total: 10, perAddress: 10, proxies: [], onRefused: () => assert.fail() }
  limitConnections(server, limits)
  server.on('request', ({ socket }, response) => notes.set(socket, response))
  url = await listenLocally(server)
})
after(() => server.close())

describe('what is known about a connection', () => {
  it('is kept apart from that of others, and from other values', async () => {
    const connected = once(server, 'connection')
    const { socket, ended } = await openConnection(url)
    const [first]: Socket[] = await connected
    assert.ok(first)
    others.set(first, 'first')
    const [[second]] = await Promise.all([once(server, 'connection'), exchange(url, REQUEST)])
    assert.equal(others.get(second), undefined)
    assert.equal(others.get(first), 'first')
    assert.equal(notes.get(first), undefined)
    socket.end(REQUEST)
    await ended
  })

  it('is let go when the connection closes, as are its listeners', async () => {
    const connected = once(server, 'connection')
    const answered = exchange(url, REQUEST)
    const [socket]: Socket[] = await connected
    assert.ok(socket)
    await once(socket, 'close')
    await answered
    await nextTurn()
    assert.equal(notes.get(socket), undefined)
    assert.deepEqual(socket.eventNames(), [])
  })
})
