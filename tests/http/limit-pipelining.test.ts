import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, describe, it, mock } from 'node:test'
import { BatchedResponse } from '../../lib/http/http-server.ts'
import { limitPipelining } from '../../lib/http/limit-pipelining.ts'
import { listen } from '../../lib/http/listen.ts'
import { exchange } from '../support/raw-connection.ts'

let server: Server
let url: string
beforeEach(async () => {
  server = createServer({ ServerResponse: BatchedResponse })
  server.on(
    'request',
    limitPipelining(server, (_, response) => void response.end('served'), 16),
  )
  url = await listen(server, { port: 0, host: '127.0.0.1' })
  mock.timers.enable({ apis: ['setTimeout'] })
})
afterEach(() => {
  mock.timers.reset()
  server.closeAllConnections()
  server.close()
})

async function answersTo(requests: number): Promise<number> {
  const text = await exchange(url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(requests))
  return text.match(/served/g)?.length ?? 0
}

describe('a connection that sends many requests at once', () => {
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
