import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { limitConnections } from '../../lib/http/connections.ts'
import { type ReaderLimits, resetSlowReaders } from '../../lib/http/slow-readers.ts'
import { HOUR_MS } from '../../lib/parts/durations.ts'
import { closeServer, listenLocally } from '../support/loopback-server.ts'
import { openConnection } from '../support/raw-connection.ts'

/** More than all buffers between two processes can hold. */
const LARGE = Buffer.alloc(64 * 1024 * 1024)

let server: Server
afterEach(() => closeServer(server))

async function listen(limits: Partial<ReaderLimits>): Promise<string> {
  server = createServer((_, response) => response.end(LARGE))
  const wide = { maxWaitMs: HOUR_MS, maxBytes: 10 * LARGE.byteLength, checkEveryMs: 50 }
  const counts = { total: 100, perAddress: 100, proxies: [], onRefused: assert.fail }
  resetSlowReaders(server, limitConnections(server, counts), { ...wide, ...limits })
  return listenLocally(server)
}

/** Sends a request and does not read. Returns the server's socket once the answer is written. */
async function ask(url: string): Promise<Socket> {
  const connected = once(server, 'connection')
  const { socket } = await openConnection(url)
  socket.pause()
  // safe: the arguments of this event
  const [theirs] = (await connected) as [Socket]
  const answered = once(server, 'request')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await answered
  theirs.once('close', () => socket.destroy())
  return theirs
}

describe('resetSlowReaders, with one answer', () => {
  it('resets the connection if the client reads nothing', async () => {
    const theirs = await ask(await listen({ maxWaitMs: 600 }))
    await once(theirs, 'close')
    assert.ok(theirs.bytesWritten > 0 && theirs.destroyed)
  })

  it('leaves alone a client that reads', async () => {
    const answer = await fetch(await listen({ maxWaitMs: HOUR_MS }))
    assert.equal((await answer.arrayBuffer()).byteLength, LARGE.byteLength)
  })
})

describe('connections with unread answers', () => {
  it('are reset, oldest first, if the answers are too large together', async () => {
    const url = await listen({ maxBytes: 2.5 * LARGE.byteLength })
    const first = await ask(url)
    const second = await ask(url)
    const gone = once(first, 'close')
    const third = await ask(url)
    await gone
    assert.deepEqual([second.destroyed, third.destroyed], [false, false])
  })
})
