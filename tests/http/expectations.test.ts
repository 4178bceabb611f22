import assert from 'node:assert/strict'
import { createServer, type Server } from 'node:http'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { serveExpectations } from '../../lib/http/http-server.ts'
import { listen } from '../../lib/http/listen.ts'
import { exchange, openConnection } from '../support/raw-connection.ts'

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
  url = await listen(server, { port: 0, host: '127.0.0.1' })
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

const GET = 'GET /first HTTP/1.1\r\nHost: a\r\n\r\n'
const post = (path: string) =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n\r\n`

/** First lines and bodies. */
function linesOf(text: string): string[] {
  return text.split(/\r\n|(?=HTTP)/).filter((line) => /^(HTTP|>|no)/.test(line))
}

describe('a request with the header Expect', () => {
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
