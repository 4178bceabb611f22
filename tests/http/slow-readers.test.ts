import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { type ReaderLimits, resetSlowReaders } from '../../lib/slow-readers.ts'
import { openConnection } from '../raw-connection.ts'

/** More than all buffers between two processes hold. */
const LARGE = Buffer.alloc(64 * 1024 * 1024)
const HOUR_MS = 3_600_000

let server: Server
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

async function listen(limits: Partial<ReaderLimits>): Promise<string> {
  server = createServer((_, response) => response.end(LARGE))
  const wide = { longestMs: HOUR_MS, mostBytes: 10 * LARGE.byteLength, checkEveryMs: 50 }
  resetSlowReaders(server, { ...wide, ...limits })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // safe: it listens on a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Asks and does not read. Returns the server's end of the connection once it is answered. */
async function ask(url: string): Promise<Socket> {
  const connected = once(server, 'connection')
  const { socket } = await openConnection(url)
  socket.pause()
  // safe: that is what the event tells
  const [theirs] = (await connected) as [Socket]
  const answered = once(server, 'request')
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  await answered
  theirs.once('close', () => socket.destroy())
  return theirs
}

describe('an answer', () => {
  it('that nobody reads is given up', async () => {
    const theirs = await ask(await listen({ longestMs: 600 }))
    await once(theirs, 'close')
    assert.ok(theirs.bytesWritten > 0 && theirs.destroyed)
  })

  it('that is read comes whole', async () => {
    const answer = await fetch(await listen({ longestMs: HOUR_MS }))
    assert.equal((await answer.arrayBuffer()).byteLength, LARGE.byteLength)
  })
})

describe('answers that nobody reads', () => {
  it('are given up, the oldest first, where they are too large together', async () => {
    const url = await listen({ mostBytes: 2.5 * LARGE.byteLength })
    const first = await ask(url)
    const second = await ask(url)
    const gone = once(first, 'close')
    const third = await ask(url)
    await gone
    assert.deepEqual([second.destroyed, third.destroyed], [false, false])
  })
})
