import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { startLoopbackServer } from './loopback-server.ts'

describe('startLoopbackServer', () => {
  it('continues after a client resets the connection in the middle of a body', async () => {
    const bodies: string[] = []
    const begun = Promise.withResolvers<void>()
    const failed = Promise.withResolvers<unknown>()
    await using loopback = await startLoopbackServer(async (request, response) => {
      request.once('data', () => begun.resolve())
      try {
        bodies.push(await text(request))
      } catch (error) {
        failed.resolve(error)
        throw error
      }
      response.end('read')
    })
    const socket = connect(loopback.port, '127.0.0.1')
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf')
    await begun.promise
    socket.resetAndDestroy()
    assert.match(String(await failed.promise), /aborted/)
    const answer = await fetch(loopback.origin, { method: 'POST', body: 'whole' })
    assert.deepEqual([await answer.text(), bodies], ['read', ['whole']])
  })

  it('answers 500 and throws at the end if the handler fails in any other way', async () => {
    const loopback = await startLoopbackServer(async () => {
      throw new Error('a bug')
    })
    assert.equal((await fetch(loopback.origin)).status, 500)
    await assert.rejects(loopback[Symbol.asyncDispose](), (error: AggregateError) => {
      assert.match(String(error.errors), /a bug/)
      return true
    })
  })

  it('ends connections that wait for an answer', async () => {
    const asked = Promise.withResolvers<void>()
    const loopback = await startLoopbackServer(() => asked.resolve())
    const socket = connect(loopback.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    await asked.promise
    const closed = once(socket, 'close')
    await loopback[Symbol.asyncDispose]()
    await closed
  })
})
