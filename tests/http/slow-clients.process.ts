import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { newDataFolder, type Running, startServer } from '../support/process.ts'
import { openConnection, parseAnswer, type RawConnection } from '../support/raw-connection.ts'
import { IS_BUN } from '../support/runtime.ts'

/*
 * docs/operations.md: a silent connection is closed after 8 s; headers that take longer than 8 s and
 * bodies that take longer than 10 s get 408. A busy machine may take a little longer.
 */

const LONGEST_MS = 15_000
const PAUSE_MS = 500

const { settings, remove } = newDataFolder()
let server: Running
before(async () => {
  server = await startServer(settings)
})
after(async () => {
  await server.stop('SIGTERM')
  remove()
})

/** Writes `piece` again and again until the server closes the connection. Returns the answer. */
async function trickle({ socket, ended }: RawConnection, piece: string) {
  const began = performance.now()
  const timer = setInterval(() => socket.write(piece), PAUSE_MS)
  const text = await ended
  clearInterval(timer)
  assert.ok(
    performance.now() - began < LONGEST_MS,
    'the server did not close the connection in time',
  )
  return text
}

function assertTooSlow(text: string): void {
  const { status, headers, body } = parseAnswer(text)
  assert.equal(status, 408)
  const { error, meta } = JSON.parse(body)
  assert.equal(error.code, 'REQUEST_TIMEOUT')
  assert.equal(meta.requestId, headers.get('x-request-id'))
  assert.equal(headers.get('connection'), 'close')
}

describe('within 15 seconds', { concurrency: true }, () => {
  it('a silent connection is closed without an answer', async () => {
    const connection = await openConnection(server.url)
    const text = await trickle(connection, '')
    // Bun does not report that a client has sent nothing.
    if (IS_BUN) assertTooSlow(text)
    else assert.equal(text, '')
  })

  it('headers that do not end get 408', async () => {
    const connection = await openConnection(server.url)
    connection.socket.write('GET /v1 HTTP/1.1\r\n')
    assertTooSlow(await trickle(connection, 'x: y\r\n'))
  })

  it('a request line that does not end gets 408', async () => {
    const connection = await openConnection(server.url)
    connection.socket.write('GET /')
    assertTooSlow(await trickle(connection, 'a'))
  })

  for (const path of ['/v1/contact', '/v1/telemetry/rum', '/api/auth/sign-in/email']) {
    it(`a body that does not end gets 408: ${path}`, async () => {
      const connection = await openConnection(server.url)
      connection.socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{`)
      assertTooSlow(await trickle(connection, ' '))
    })

    it(`a chunked body that does not end gets 408: ${path}`, async () => {
      const connection = await openConnection(server.url)
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`
      connection.socket.write(`${head}1\r\n{\r\n`)
      assertTooSlow(await trickle(connection, '1\r\n \r\n'))
    })
  }

  it('a connection is closed if its body does not end after the answer', async () => {
    const connection = await openConnection(server.url)
    const head = 'POST /v1/account/me/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n'
    connection.socket.write(head)
    assert.equal(parseAnswer(await trickle(connection, ' ')).status, 401)
  })

  it('a second request that does not end gets 408', async () => {
    const connection = await openConnection(server.url)
    connection.socket.write('GET /v1 HTTP/1.1\r\nHost: x\r\n\r\nGET /v1 HTTP/1.1\r\n')
    const [, , second = ''] = (await trickle(connection, 'x: y\r\n')).split('HTTP/1.1 ')
    assertTooSlow(`HTTP/1.1 ${second}`)
  })
})
