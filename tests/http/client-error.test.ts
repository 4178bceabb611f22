import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { answerClientErrors } from '../../lib/http/client-error.ts'
import { installFastPath } from '../../lib/http/fast-path/fast-path.ts'
import { closeServer, listenLocally } from '../support/loopback-server.ts'
import { openConnection } from '../support/raw-connection.ts'

const GOOD = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab'
/** Its body is to follow. */
const CHUNKED = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'

let server: Server
let url: string
const requests = async () => {
  const [, response] = await once(server, 'request')
  // safe: the arguments of that event
  return response as ServerResponse
}
beforeEach(async () => {
  server = createServer((request) => request.resume())
  answerClientErrors(server, () => ({ status: 400, headers: {}, json: '{"bad":true}' }))
  url = await listenLocally(server)
})
afterEach(() => closeServer(server))

const statuses = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code)

/** Sends bytes. Returns the response to their first request, and the client's end of the connection. */
async function begin(bytes: string) {
  const arrived = requests()
  const { socket, ended } = await openConnection(url)
  socket.write(bytes)
  return { socket, ended, response: await arrived }
}

describe('bytes behind an unreadable request', () => {
  it('are dropped, and cost nothing', async () => {
    installFastPath(server, { answer: () => null, onError: (error) => assert.fail(String(error)) })
    const { socket, response } = await begin(GOOD)
    const waiting = () => response.listenerCount('close')
    const before = waiting()
    for (let n = 0; n < 100; n++) {
      socket.write('rubbish\r\n\r\n'.repeat(100))
      await nextTurn()
    }
    assert.ok(waiting() <= before + 1, `${waiting()}`)
    response.end()
  })
})

describe('CONNECT', () => {
  it('does not end the process if its client resets the connection', async () => {
    for (const pending of ['', GOOD]) {
      const { socket } = await openConnection(url)
      const connecting = once(server, 'connect')
      socket.write(`${pending}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`)
      const [, served] = await connecting
      const closed = new Promise((resolve) => served.once('close', resolve))
      socket.resetAndDestroy()
      served.resume()
      await closed
    }
  })
})

describe('bytes that are not a request', () => {
  it('are refused after the answer to the request before them', async () => {
    const { ended, response } = await begin(`${GOOD}rubbish\r\n\r\n`)
    response.writeHead(201).end('made')
    const text = await ended
    assert.deepEqual(statuses(text), ['201', '400'])
    assert.match(text, /made/)
  })

  it('are refused at once if the request before them was answered', async () => {
    const { socket, ended, response } = await begin(GOOD)
    response.end('made')
    await once(socket, 'data')
    socket.write('rubbish\r\n\r\n')
    assert.deepEqual(statuses(await ended), ['200', '400'])
  })

  it('are refused at once in the body of a request, which gets no other answer', async () => {
    const { ended } = await begin(`${CHUNKED}zz\r\n`)
    assert.deepEqual(statuses(await ended), ['400'])
  })

  it('include CONNECT: it is refused, without a tunnel', async () => {
    const tunnel = `CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n`
    const { ended, response } = await begin(`${GOOD}${tunnel}${GOOD}`)
    response.end('made')
    assert.deepEqual(statuses(await ended), ['200', '400'])
  })

  it('are refused in the body of a request after the answers to the requests before it', async () => {
    const { ended, response } = await begin(`${GOOD}${CHUNKED}zz\r\n`)
    response.writeHead(201).end('made')
    const text = await ended
    assert.deepEqual(statuses(text), ['201', '400'])
    assert.match(text, /made/)
  })

  it('are not refused in the body of a request that was answered: it gets one answer', async () => {
    const { socket, ended, response } = await begin(CHUNKED)
    response.writeHead(401).end('no')
    await once(socket, 'data')
    socket.write('zz\r\n')
    const text = await ended
    assert.deepEqual(statuses(text), ['401'])
    assert.match(text, /no/)
  })

  it('are not refused behind an answer that closes the connection', async () => {
    const responses: ServerResponse[] = []
    server.on('request', (_, response) => {
      if (responses.push(response) < 2) return
      // Waits for the answer before it.
      response.writeHead(405, { connection: 'close' }).end('no')
      setImmediate(() => responses[0]?.writeHead(201).end('made'))
    })
    const { socket, ended } = await openConnection(url)
    socket.write(`${GOOD}${CHUNKED}zz\r\n`)
    const text = await ended
    assert.deepEqual(statuses(text), ['201', '405'])
    assert.match(text, /made.*no/s)
  })
})
