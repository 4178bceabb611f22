import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { BatchedResponse } from '../../lib/http/http-server.ts'

/** Sends the requests in one packet and returns everything that the server sends. */
async function exchange(listener: RequestListener, paths: readonly string[]): Promise<string> {
  const server = createServer({ ServerResponse: BatchedResponse }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // safe: it listens on a port
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const requests = paths.map((path, at) => {
    const end = at === paths.length - 1 ? 'Connection: close\r\n' : ''
    return `GET ${path} HTTP/1.1\r\nHost: a.example\r\n${end}\r\n`
  })
  socket.write(requests.join(''))
  const received = await text(socket)
  server.close()
  await once(server, 'close')
  return received
}

function writeParts(response: ServerResponse): void {
  response.write('one,')
  response.end('two')
}

describe('BatchedResponse', () => {
  it('answers all requests that arrived together before it sends the first answer', async () => {
    const events: string[] = []
    const received = await exchange(
      (request, response) => {
        events.push(`answer ${request.url}`)
        response.once('finish', () => events.push(`sent ${request.url}`))
        response.end(`this is ${request.url}`)
      },
      ['/a', '/b', '/c'],
    )
    assert.deepEqual(received.match(/this is \/./g), ['this is /a', 'this is /b', 'this is /c'])
    assert.deepEqual(events.slice(0, 3), ['answer /a', 'answer /b', 'answer /c'])
    assert.deepEqual(events.slice(3), ['sent /a', 'sent /b', 'sent /c'])
  })

  it('supports every way to end a response', async () => {
    const done = Promise.withResolvers<void>()
    const received = await exchange(
      (request, response) => {
        if (request.url === '/nothing') response.writeHead(204).end()
        else if (request.url === '/parts') writeParts(response)
        else if (request.url === '/bytes') response.end(Buffer.from('bytes'))
        else response.end('e9', 'hex', done.resolve)
      },
      ['/nothing', '/parts', '/bytes', '/encoded'],
    )
    await done.promise
    assert.match(received, /204 No Content.*one,.*two.*bytes.*Content-Length: 1\r.*\ufffd$/s)
  })

  it('survives a client that disconnects before the end', async () => {
    const received = await exchange(
      (request, response) => {
        response.end('late')
        if (request.url === '/leave') request.socket.destroy()
      },
      ['/leave', '/left'],
    )
    assert.equal(received, '')
    assert.match(await exchange((_, response) => response.end('well'), ['/']), /well/)
  })
})
