import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openConnection, parseAnswer, type RawConnection } from '../raw-connection.ts'
import { newDataFolder, type Running, startServer } from './process.ts'

/* What the contract of operations promises: who does not ask is gone after 15 seconds. */

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

/** Writes `piece` again and again until the server closes the connection; tells all that came. */
async function trickle({ socket, ended }: RawConnection, piece: string) {
  const began = performance.now()
  const timer = setInterval(() => socket.write(piece), PAUSE_MS)
  const text = await ended
  clearInterval(timer)
  assert.ok(performance.now() - began < LONGEST_MS, 'closed in time')
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
  it('a connection on which nothing comes is closed without a word', async () => {
    const connection = await openConnection(server.url)
    assert.equal(await trickle(connection, ''), '')
  })

  it('headers that do not end are answered 408', async () => {
    const connection = await openConnection(server.url)
    connection.socket.write('GET /v1 HTTP/1.1\r\n')
    assertTooSlow(await trickle(connection, 'x: y\r\n'))
  })

  it('so is a request line that does not end', async () => {
    const connection = await openConnection(server.url)
    connection.socket.write('GET /')
    assertTooSlow(await trickle(connection, 'a'))
  })

  for (const path of ['/v1/contact', '/v1/telemetry/rum', '/api/auth/sign-in/email']) {
    it(`so is a body that does not end: ${path}`, async () => {
      const connection = await openConnection(server.url)
      connection.socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{`)
      assertTooSlow(await trickle(connection, ' '))
    })

    it(`so is a body in chunks that does not end: ${path}`, async () => {
      const connection = await openConnection(server.url)
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`
      connection.socket.write(`${head}1\r\n{\r\n`)
      assertTooSlow(await trickle(connection, '1\r\n \r\n'))
    })
  }

  it('who is answered before the body has come is let go, too', async () => {
    const connection = await openConnection(server.url)
    const head = 'POST /v1/account/me/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n'
    connection.socket.write(head)
    assert.equal(parseAnswer(await trickle(connection, ' ')).status, 401)
  })

  it('so is who is slow with the second request', async () => {
    const connection = await openConnection(server.url)
    connection.socket.write('GET /v1 HTTP/1.1\r\nHost: x\r\n\r\nGET /v1 HTTP/1.1\r\n')
    const [, , second = ''] = (await trickle(connection, 'x: y\r\n')).split('HTTP/1.1 ')
    assertTooSlow(`HTTP/1.1 ${second}`)
  })
})
