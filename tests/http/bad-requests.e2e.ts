import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { ApiErrorBody } from '../../lib/contract/common.ts'
import { exchange, openConnection, parseAnswer } from '../raw-connection.ts'
import { newDataFolder, type Running, runScript, startServer } from './process.ts'

/* Requests as bytes: what is no request, what a proxy may read otherwise than we do, and Host. */

const { settings, remove } = newDataFolder()
let server: Running
let key: string
before(async () => {
  server = await startServer(settings)
  const args = ['scripts/key.ts', '--email', 'ada@example.com', '--name', 'raw']
  key = (await runScript(args, settings)).stdout.trim()
})
after(async () => {
  await server.stop('SIGTERM')
  remove()
})

const HEAD = 'POST /v1/contact HTTP/1.1\r\nHost: x\r\n'
const SMUGGLED = 'GET /v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

/** Fails unless all that came is one error in the form of the contract, and the end. */
function assertRefused(text: string, status: number, code: string): void {
  const answer = parseAnswer(text)
  assert.equal(answer.status, status, text.slice(0, 200))
  const { error, meta } = v.parse(ApiErrorBody, JSON.parse(answer.body))
  assert.equal(error.code, code)
  assert.equal(meta?.requestId, answer.headers.get('x-request-id'))
  assert.equal(text.split('HTTP/1.1 ').length, 2, 'nothing else is answered')
  assert.equal(text.includes('contact'), false, 'the request is not repeated')
}

describe('what is no HTTP/1.1', () => {
  const refused: Readonly<Record<string, string>> = {
    'Content-Length beside Transfer-Encoding': `${HEAD}Content-Length: 4\r\n${CHUNKED}\r\n0\r\n\r\n`,
    'Transfer-Encoding beside Content-Length': `${HEAD}${CHUNKED}Content-Length: 4\r\n\r\n0\r\n\r\n`,
    'two lengths': `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    'the same length twice': `${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
    'a list of lengths': `${HEAD}Content-Length: 2, 2\r\n\r\n{}`,
    'a length with a sign': `${HEAD}Content-Length: +2\r\n\r\n{}`,
    'a length below zero': `${HEAD}Content-Length: -1\r\n\r\n{}`,
    'a length in hexadecimal': `${HEAD}Content-Length: 0x2\r\n\r\n{}`,
    'a length beyond all numbers': `${HEAD}Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`,
    'a coding that is not the last': `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    'a misspelt coding': `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'a blank before the colon': `${HEAD}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    'a folded header': `${HEAD}X: a\r\n Content-Length: 5\r\n\r\n`,
    'a folded coding': `${HEAD}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`,
    'lines that end with LF alone': `${HEAD}X: a\nContent-Length: 0\n\n`,
    'lines that end with CR alone': `${HEAD}X: a\rContent-Length: 0\r\n\r\n`,
    'a null byte in a header': `${HEAD}X: a\0b\r\nContent-Length: 0\r\n\r\n`,
    'a null byte in the path': 'GET /v1\0 HTTP/1.1\r\nHost: x\r\n\r\n',
    'a blank in a name': `${HEAD}X Y: a\r\nContent-Length: 0\r\n\r\n`,
    'a chunk of no size': `${HEAD}${CHUNKED}\r\nzz\r\n{}\r\n0\r\n\r\n`,
    'a chunk that is longer than it says': `${HEAD}${CHUNKED}\r\n1\r\n{}\r\n0\r\n\r\n`,
    'a chunk of endless size': `${HEAD}${CHUNKED}\r\n${'f'.repeat(20)}\r\n{}`,
    'a chunk that ends with LF alone': `${HEAD}${CHUNKED}\r\n2\n{}\n0\n\n`,
    'another version': 'GET /v1 HTTP/9.9\r\nHost: x\r\n\r\n',
    'no version': 'GET /v1\r\n\r\n',
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'a method of no standard': 'GOT /v1 HTTP/1.1\r\nHost: x\r\n\r\n',
    'a method in small letters': 'get /v1 HTTP/1.1\r\nHost: x\r\n\r\n',
    TLS: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    text: 'hello\r\n\r\n',
    'a request for no host': 'GET /v1 HTTP/1.1\r\nConnection: close\r\n\r\n',
    'a path in Host': 'GET /v1 HTTP/1.1\r\nHost: x/v1/account\r\nConnection: close\r\n\r\n',
    'a user in Host': 'GET /v1 HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n',
    'a backslash in the path': 'GET /v1\\ip HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
  }
  for (const [name, bytes] of Object.entries(refused)) {
    it(`is 400, and what follows is not read: ${name}`, async () => {
      assertRefused(await exchange(server.url, bytes + SMUGGLED), 400, 'BAD_REQUEST')
    })
  }

  it('is 400 after a good request, too', async () => {
    const good = 'GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n'
    const text = await exchange(server.url, `${good}GET /v1 HTTP/9.9\r\n\r\n`)
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
    assert.equal(statuses.at(-1), '400')
    assert.ok(statuses.length <= 2)
  })

  it('is in the log with its request id', async () => {
    const { headers } = parseAnswer(await exchange(server.url, `${HEAD}Content-Length: x\r\n\r\n`))
    const id = headers.get('x-request-id') ?? ''
    while (!server.output().includes(id)) await new Promise((resolve) => setTimeout(resolve, 50))
    const line =
      server
        .output()
        .split('\n')
        .find((text) => text.includes(id)) ?? ''
    const { method, status, client } = JSON.parse(line)
    assert.deepEqual(
      { method, status, client },
      { method: '?', status: 400, client: '127.0.0.0/24' },
    )
  })
})

describe('what is too large', () => {
  it('is 431: a header', async () => {
    const bytes = `GET /v1 HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`
    assertRefused(await exchange(server.url, bytes), 431, 'HEADERS_TOO_LARGE')
  })

  it('is 431: a path', async () => {
    const bytes = `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`
    assertRefused(await exchange(server.url, bytes), 431, 'HEADERS_TOO_LARGE')
  })

  it('is 431: all headers together', async () => {
    const many = Array.from({ length: 3_000 }, (_, n) => `x${n}: 1\r\n`).join('')
    const bytes = `GET /v1 HTTP/1.1\r\nHost: x\r\n${many}\r\n`
    assertRefused(await exchange(server.url, bytes), 431, 'HEADERS_TOO_LARGE')
  })

  it('is not what comes after a thousand headers, none of which is dropped', async () => {
    const many = 'a:1\r\n'.repeat(2_500)
    const last = `X-API-Key: ${key}\r\nConnection: close\r\n\r\n`
    const bytes = `GET /v1/ip/81.2.69.160 HTTP/1.1\r\nHost: x\r\n${many}${last}`
    assert.equal(parseAnswer(await exchange(server.url, bytes)).status, 200)
  })
})

describe('a body that is refused unread', () => {
  for (const bytes of [100, 30_000]) {
    it(`leaves the connection to the next request: ${bytes} bytes`, async () => {
      const body = JSON.stringify({ ips: ['81.2.69.160'], fields: ['x'.repeat(bytes)] })
      const { socket, received, ended } = await openConnection(server.url)
      const head = `POST /v1/ip/batch HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}x\r\n`
      socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
      while (!received().includes('UNAUTHORIZED')) await once(socket, 'data')
      const next = `GET /v1/ip/81.2.69.160 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n`
      socket.write(`${next}Connection: close\r\n\r\n`)
      const statuses = [...(await ended).matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)
      assert.deepEqual(statuses, ['401', '200'])
    })
  }
})

describe('methods', () => {
  const ask = async (line: string, headers = '') =>
    parseAnswer(
      await exchange(
        server.url,
        `${line} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`,
      ),
    )

  it('TRACE and others that no path has are 405, and repeat nothing', async () => {
    for (const method of ['TRACE', 'TRACK', 'PROPFIND', 'PURGE', 'LINK', 'QUERY']) {
      const { status, body } = await ask(`${method} /v1`, `X-Secret: mirror\r\n`)
      assert.ok(status === 405 || status === 400, `${method} ${status}`)
      v.parse(ApiErrorBody, JSON.parse(body))
      assert.equal(body.includes('mirror'), false)
    }
    assert.equal((await ask('TRACE /v1')).status, 405)
  })

  it('CONNECT opens no tunnel', async () => {
    const bytes = 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n'
    const text = await exchange(server.url, bytes + SMUGGLED)
    assert.equal(/^HTTP\/1\.1 2/m.test(text), false, text)
  })

  it('are those of the request line, whatever headers say', async () => {
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const headers = `X-API-Key: ${key}\r\n${name}: DELETE\r\nContent-Length: 0\r\n`
      assert.equal((await ask('POST /v1/account/me/keys/some', headers)).status, 405, name)
      assert.equal((await ask('GET /v1/account/me/keys', headers)).status, 200, name)
    }
  })

  it('may expect what they like', async () => {
    assert.equal((await ask('GET /v1', 'Expect: wonders\r\n')).status, 200)
  })

  it('may wish for another protocol, and are answered in this one', async () => {
    const headers = 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n'
    assert.equal((await ask('GET /v1', headers)).status, 200)
  })
})

describe('the header Host', () => {
  const paths = ['/v1', '/', '/docs', '/robots.txt', '/rum.json', '/health', '/v1/billing/plans']
  for (const path of [...paths, '/.well-known/openapi.json', '/api/auth/get-session', '/nowhere']) {
    it(`and its relatives decide nothing of the answer to ${path}`, async () => {
      const others = ['X-Forwarded-Host', 'X-Host', 'Forwarded', 'X-Original-URL', 'X-Rewrite-URL']
      const more = others.map((name) => `${name}: host=evil.example\r\n`).join('')
      const accept = 'Accept: text/html\r\nConnection: close\r\n'
      for (const target of [path, `http://evil.example${path}`]) {
        const bytes = `GET ${target} HTTP/1.1\r\nHost: evil.example\r\n${more}${accept}\r\n`
        const text = await exchange(server.url, bytes)
        assert.match(text, /^HTTP\/1\.1 (200|404) /)
        assert.equal(text.includes('evil.example'), false)
      }
    })
  }
})
