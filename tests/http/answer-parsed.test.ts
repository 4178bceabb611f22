import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { createHttpServer } from '../../lib/http/http-server.ts'
import { listen } from '../../lib/http/listen.ts'
import type { WholeRequest } from '../../lib/http/whole-request.ts'
import { exchange, openConnection, parseAnswer } from '../support/raw-connection.ts'

/** The fast path leaves such a request to node:http. */
const HEAD = 'Host: a\r\nProxy-Connection: close\r\nConnection: close\r\n'

/** Answers each path but /other and /broken; the listener answers these. */
function answer({ method, url, headers, body }: WholeRequest) {
  if (url === '/broken') throw new Error('broken')
  if (url === '/other') return null
  assert.equal(body, null)
  const json = JSON.stringify({ method, host: headers['host'], text: 'ß' })
  return { status: 404, headers: { 'content-type': 'application/json', 'x-by': 'answer' }, json }
}

let server: Server
let url: string
const errors: unknown[] = []
before(async () => {
  server = createHttpServer(
    (_, response) => {
      response.setHeader('x-by', 'listener')
      response.end()
    },
    {
      connections: { total: 10, perAddress: 10, proxies: [], onRefused: () => assert.fail() },
      answerUnreadable: () => ({ status: 400, headers: {}, json: '{}' }),
      answerWhole: { answer, onError: (error) => errors.push(error) },
    },
  )
  url = await listen(server, { port: 0, host: '127.0.0.1' })
})
after(() => server.close())

const ask = async (text: string) => parseAnswer(await exchange(url, text))

describe('a request without a body that node:http has parsed', () => {
  it('is answered without the listener', async () => {
    const { status, headers, body } = await ask(`GET /a HTTP/1.1\r\n${HEAD}\r\n`)
    assert.equal(status, 404)
    assert.deepEqual(JSON.parse(Buffer.from(body, 'latin1').toString()), {
      method: 'GET',
      host: 'a',
      text: 'ß',
    })
    assert.equal(headers.get('content-length'), String(body.length))
    assert.equal(headers.get('connection'), 'close')
  })

  it('has the headers of GET but its length, and no body, if it is HEAD', async () => {
    const [get, head] = [
      await ask(`GET /a HTTP/1.1\r\n${HEAD}\r\n`),
      await ask(`HEAD /a HTTP/1.1\r\n${HEAD}\r\n`),
    ]
    assert.equal(head.body, '')
    get.headers.delete('content-length')
    assert.deepEqual([...head.headers.keys()], [...get.headers.keys()])
    assert.equal(head.headers.get('x-by'), 'answer')
  })

  const others: Readonly<Record<string, string>> = {
    'has a body': `GET /a HTTP/1.1\r\n${HEAD}Content-Length: 1\r\n\r\na`,
    'has an empty body': `GET /a HTTP/1.1\r\n${HEAD}Content-Length: 0\r\n\r\n`,
    'has a body in chunks': `GET /a HTTP/1.1\r\n${HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    'has a header twice': `GET /a HTTP/1.1\r\n${HEAD}X-API-Key: a\r\nX-API-Key: b\r\n\r\n`,
    'has Host twice': `GET /a HTTP/1.1\r\n${HEAD}Host: b\r\n\r\n`,
    'has a header twice but no Host':
      'GET /a HTTP/1.0\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n',
    'has another method': `DELETE /a HTTP/1.1\r\n${HEAD}\r\n`,
    'is not for it': `GET /other HTTP/1.1\r\n${HEAD}\r\n`,
  }
  for (const [name, text] of Object.entries(others)) {
    it(`is left to the listener if it ${name}`, async () => {
      assert.equal((await ask(text)).headers.get('x-by'), 'listener')
    })
  }

  it('may be HTTP/1.0, whose connection ends after it', async () => {
    for (const head of ['Host: a\r\n', '', 'Host: a\r\nConnection: close\r\n']) {
      const { headers } = await ask(`GET /a HTTP/1.0\r\n${head}\r\n`)
      assert.equal(headers.get('x-by'), 'answer')
    }
  })

  for (const head of [HEAD, 'Host: a\r\nConnection: close\r\n']) {
    it(`is left to the listener if answering fails, which is not tried again: ${head}`, async () => {
      errors.length = 0
      const { headers } = await ask(`GET /broken HTTP/1.1\r\n${head}\r\n`)
      assert.equal(headers.get('x-by'), 'listener')
      assert.deepEqual(errors.map(String), ['Error: broken'])
    })
  }

  it('is left to the listener if the fast path failed on a kept connection', async () => {
    errors.length = 0
    const { socket, received, ended } = await openConnection(url)
    socket.write('GET /a HTTP/1.1\r\nHost: a\r\n\r\n')
    while (!received().endsWith('}')) await once(socket, 'data')
    socket.write('GET /broken HTTP/1.1\r\nHost: a\r\n\r\n')
    while (!received().includes('listener')) await once(socket, 'data')
    socket.write(`GET /a HTTP/1.1\r\n${HEAD}\r\n`)
    const ways = [...(await ended).matchAll(/^x-by: (.*)\r$/gm)].map(([, way]) => way)
    assert.deepEqual(ways, ['answer', 'listener', 'answer'])
    assert.deepEqual(errors.map(String), ['Error: broken'])
  })
})
