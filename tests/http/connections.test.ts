import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { type ConnectionLimits, limitConnections } from '../../lib/http/connections.ts'
import { parseNetwork } from '../../lib/parts/net/network.ts'
import { listenLocally } from '../support/loopback-server.ts'
import { openConnection, type RawConnection } from '../support/raw-connection.ts'
import { NOT_ON_MACOS } from '../support/runtime.ts'

const REQUEST = 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'
const BODY = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}'
const CHUNKS = 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n{\r\n'

let server: Server
let url: string
let refused: number
let opened: RawConnection[]
beforeEach(() => {
  opened = []
  refused = 0
})
afterEach(() => {
  for (const { socket } of opened) socket.destroy()
  server.closeAllConnections()
  server.close()
})

async function listen(limits: Partial<ConnectionLimits>): Promise<void> {
  server = createServer((_, response) => response.end('ok'))
  const onRefused = () => {
    refused += 1
  }
  limitConnections(server, { total: 100, perAddress: 100, proxies: [], onRefused, ...limits })
  url = await listenLocally(server)
}

async function open(from?: string): Promise<RawConnection> {
  const connection = await openConnection(url, from)
  opened.push(connection)
  return connection
}

/** Sends a request and waits for its answer or the end of the connection. */
async function ask(
  { socket, received, ended }: RawConnection,
  request = REQUEST,
): Promise<'answered' | 'closed'> {
  const before = received().length
  const answered = new Promise<'answered'>((resolve) => {
    socket.on('data', () => resolve('answered'))
  })
  socket.write(request)
  const outcome = await Promise.race([answered, ended.then(() => 'closed' as const)])
  assert.equal(received().length > before, outcome === 'answered')
  return outcome
}

/** Waits until the server has no open connection. */
async function waitUntilEmpty(): Promise<void> {
  const count = promisify(server.getConnections.bind(server))
  while ((await count()) > 0) await nextTurn()
}

describe('the connections of one address', () => {
  it('are closed above the limit, unlike those of other addresses', NOT_ON_MACOS, async () => {
    await listen({ perAddress: 2 })
    const first = await open()
    await ask(first)
    await ask(await open())
    assert.equal(await ask(await open()), 'closed')
    assert.equal(await ask(await open('127.0.0.2')), 'answered')
    assert.equal(await ask(first), 'answered')
    assert.equal(refused, 1)
  })

  it('are accepted again once others have closed', async () => {
    await listen({ perAddress: 1 })
    for (let n = 0; n < 5; n++) {
      const taken = once(server, 'connection')
      const { socket } = await open()
      await taken
      socket.destroy()
      await waitUntilEmpty()
    }
    assert.equal(await ask(await open()), 'answered')
    assert.equal(refused, 0)
  })

  it('are not limited if the address is a trusted proxy', async () => {
    const proxy = parseNetwork('127.0.0.1')
    assert.ok(proxy)
    await listen({ perAddress: 1, proxies: [proxy] })
    await ask(await open())
    assert.equal(await ask(await open()), 'answered')
  })
})

describe('a server with the maximum of connections', () => {
  it('closes the connection that has been silent for longest', NOT_ON_MACOS, async () => {
    await listen({ total: 3 })
    const busy = await open()
    await ask(busy)
    const silent = await open('127.0.0.2')
    const halfway = await open('127.0.0.3')
    halfway.socket.write('GET / HTTP/1.1\r\n')
    assert.equal(await ask(await open('127.0.0.4')), 'answered')
    assert.equal(await silent.ended, '')
    assert.equal(await ask(await open('127.0.0.5')), 'answered')
    assert.equal(await halfway.ended, '')
    assert.equal(await ask(busy), 'answered')
    assert.equal(refused, 0)
  })

  const endless = 'closes a connection whose body does not end, even after earlier requests'
  it(endless, NOT_ON_MACOS, async () => {
    await listen({ total: 3 })
    const whole = await open()
    assert.equal(await ask(whole, BODY), 'answered')
    const slow = [await open('127.0.0.2'), await open('127.0.0.3')] as const
    await ask(slow[0])
    await ask(slow[0], BODY.slice(0, -1))
    await ask(slow[1], CHUNKS)
    for (const [n, { received, ended }] of slow.entries()) {
      assert.equal(await ask(await open(`127.0.1.${n}`)), 'answered')
      assert.equal(await ended, received())
    }
    assert.equal(await ask(whole, BODY), 'answered')
    assert.equal(refused, 0)
  })

  it('closes idle connections, so that the next client finds room', async () => {
    await listen({ total: 2 })
    const closed: Promise<unknown>[] = []
    server.on('connection', (socket) => closed.push(once(socket, 'close')))
    await ask(await open())
    await ask(await open())
    assert.equal(await ask(await open()), 'closed')
    // The client may know first: on Windows, the server's own read ends later.
    await Promise.all(closed)
    assert.equal(await ask(await open()), 'answered')
    assert.equal(refused, 1)
  })
})
