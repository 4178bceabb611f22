import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { openConnection, parseAnswer } from '../support/raw-connection.ts'
import { IS_BUN } from '../support/runtime.ts'
import { sharedServer } from '../support/scene/server.ts'

/*
 * docs/operations.md: a silent connection is closed after 8 s; headers that take longer than 8 s and
 * bodies that take longer than 10 s get 408. A busy machine may take a little longer.
 */

const LONGEST_MS = 15_000
const PAUSE_MS = 500

const { server } = sharedServer()

/** Writes `head`, then `piece` again and again until the server closes the connection. Returns the answer. */
async function trickle(head: string, piece: string) {
  const { socket, ended } = await openConnection(server.url)
  socket.write(head)
  const began = performance.now()
  const timer = setInterval(() => socket.write(piece), PAUSE_MS)
  const text = await ended
  clearInterval(timer)
  const lasted = performance.now() - began
  assert.ok(lasted < LONGEST_MS, 'the server did not close the connection in time')
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
    const text = await trickle('', '')
    // Bun does not report that a client has sent nothing.
    if (IS_BUN) assertTooSlow(text)
    else assert.equal(text, '')
  })

  it('headers that do not end get 408', async () => {
    assertTooSlow(await trickle('GET /v1 HTTP/1.1\r\n', 'x: y\r\n'))
  })

  it('a request line that does not end gets 408', async () => {
    assertTooSlow(await trickle('GET /', 'a'))
  })

  for (const path of ['/v1/contact', '/v1/telemetry/rum', '/api/auth/sign-in/email']) {
    it(`a body that does not end gets 408: ${path}`, async () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{`
      assertTooSlow(await trickle(head, ' '))
    })

    it(`a chunked body that does not end gets 408: ${path}`, async () => {
      const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n`
      assertTooSlow(await trickle(`${head}1\r\n{\r\n`, '1\r\n \r\n'))
    })
  }

  it('a connection is closed if its body does not end after the answer', async () => {
    const head = 'POST /v1/account/me/keys HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n'
    assert.equal(parseAnswer(await trickle(head, ' ')).status, 401)
  })

  it('a second request that does not end gets 408', async () => {
    const head = 'GET /v1 HTTP/1.1\r\nHost: x\r\n\r\nGET /v1 HTTP/1.1\r\n'
    const [, , second = ''] = (await trickle(head, 'x: y\r\n')).split('HTTP/1.1 ')
    assertTooSlow(`HTTP/1.1 ${second}`)
  })
})
