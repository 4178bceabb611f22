import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, it } from 'node:test'
import * as v from 'valibot'
import { ApiErrorBody } from '../../lib/contract/common.ts'
import { exchange, openConnection, parseAnswer } from '../support/raw-connection.ts'
import { IS_BUN, IS_PROJECT_NODE } from '../support/runtime.ts'
import { sharedServer } from '../support/scene/server.ts'
import { words } from '../support/words.ts'

/* Requests as bytes: invalid ones, those that a proxy may read differently, and the header Host. */

// The server stays strict. Deno and Bun have no such option.
const lenient = IS_PROJECT_NODE ? { NODE_OPTIONS: '--insecure-http-parser' } : {}
let key: string
const { server, addKey } = sharedServer(lenient, async () => {
  key = await addKey(undefined, '--scopes', 'all')
})

const HEAD = 'POST /v1/contact HTTP/1.1\r\nHost: x\r\n'
const SMUGGLED = 'GET /v1 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
const CHUNKED = 'Transfer-Encoding: chunked\r\n'

/** Fails unless the server sent exactly one error in the form of the contract. */
function assertRefused(text: string, status: number, code: string): void {
  const answer = parseAnswer(text)
  assert.equal(answer.status, status, text.slice(0, 200))
  const { error, meta } = v.parse(ApiErrorBody, JSON.parse(answer.body))
  assert.equal(error.code, code)
  assert.equal(meta?.requestId, answer.headers.get('x-request-id'))
  assert.equal(text.split('HTTP/1.1 ').length, 2, 'the server must send only one answer')
  assert.equal(text.includes('contact'), false, 'the answer must not echo the request')
}

const statusesOf = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, code]) => code)

describe('a request that is not valid HTTP/1.1', () => {
  const refused: Readonly<Record<string, string>> = {
    'Content-Length before Transfer-Encoding': `${HEAD}Content-Length: 4\r\n${CHUNKED}\r\n0\r\n\r\n`,
    'Transfer-Encoding before Content-Length': `${HEAD}${CHUNKED}Content-Length: 4\r\n\r\n0\r\n\r\n`,
    'two lengths': `${HEAD}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}`,
    'the same length twice': `${HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}`,
    'a list of lengths': `${HEAD}Content-Length: 2, 2\r\n\r\n{}`,
    'a length with a sign': `${HEAD}Content-Length: +2\r\n\r\n{}`,
    'a length below zero': `${HEAD}Content-Length: -1\r\n\r\n{}`,
    'a length in hexadecimal': `${HEAD}Content-Length: 0x2\r\n\r\n{}`,
    'a length that is too large for a number': `${HEAD}Content-Length: ${'9'.repeat(30)}\r\n\r\n{}`,
    'chunked coding that is not the last': `${HEAD}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n`,
    'a misspelt coding': `${HEAD}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`,
    'a blank before the colon': `${HEAD}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n`,
    'a folded header': `${HEAD}X: a\r\n Content-Length: 5\r\n\r\n`,
    'a folded coding': `${HEAD}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n`,
    'lines that end with LF alone': `${HEAD}X: a\nContent-Length: 0\n\n`,
    'lines that end with CR alone': `${HEAD}X: a\rContent-Length: 0\r\n\r\n`,
    'a null byte in a header': `${HEAD}X: a\0b\r\nContent-Length: 0\r\n\r\n`,
    'a null byte in the path': 'GET /v1\0 HTTP/1.1\r\nHost: x\r\n\r\n',
    'a blank in a name': `${HEAD}X Y: a\r\nContent-Length: 0\r\n\r\n`,
    'a chunk without a size': `${HEAD}${CHUNKED}\r\nzz\r\n{}\r\n0\r\n\r\n`,
    'a chunk that is longer than it says': `${HEAD}${CHUNKED}\r\n1\r\n{}\r\n0\r\n\r\n`,
    'a chunk with a huge size': `${HEAD}${CHUNKED}\r\n${'f'.repeat(20)}\r\n{}`,
    'a chunk that ends with LF alone': `${HEAD}${CHUNKED}\r\n2\n{}\n0\n\n`,
    'another version': 'GET /v1 HTTP/9.9\r\nHost: x\r\n\r\n',
    'no version': 'GET /v1\r\n\r\n',
    'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'an unknown method': 'GOT /v1 HTTP/1.1\r\nHost: x\r\n\r\n',
    'a method in small letters': 'get /v1 HTTP/1.1\r\nHost: x\r\n\r\n',
    TLS: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
    text: 'hello\r\n\r\n',
  }
  for (const [name, bytes] of Object.entries(refused)) {
    // Bun accepts equal repeated lengths, as RFC 9112 (6.3) allows.
    const skip = IS_BUN && name === 'the same length twice'
    it(`gets 400, and the bytes after it are not read: ${name}`, { skip }, async () => {
      assertRefused(await exchange(server.url, bytes + SMUGGLED), 400, 'BAD_REQUEST')
    })
  }

  const unserved: Readonly<Record<string, string>> = {
    'no Host': 'GET /v1 HTTP/1.1\r\n',
    'no Host, but a whole address': 'GET http://x/v1 HTTP/1.1\r\n',
    'a path in Host': 'GET /v1 HTTP/1.1\r\nHost: x/v1/account\r\n',
    'a user in Host': 'GET /v1 HTTP/1.1\r\nHost: a@b\r\n',
    'a user in Host in HTTP/1.0': 'GET /v1 HTTP/1.0\r\nHost: a@b\r\n',
    'a backslash in the path': 'GET /v1\\ip HTTP/1.1\r\nHost: x\r\n',
    'the version of HTTP/2': 'GET /v1 HTTP/2.0\r\nHost: x\r\n',
    // RFC 9112, section 3.2: any request that has more than one
    'two Hosts': 'GET /v1 HTTP/1.1\r\nHost: x\r\nHost: y\r\n',
    'the same Host twice': 'GET /v1 HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nhost: x\r\n',
    'a Host and an empty one': 'GET /v1 HTTP/1.1\r\nHost: x\r\nHost:\r\n',
    'an empty Host and another': 'GET /v1 HTTP/1.1\r\nHost:\r\nHOST: x\r\n',
    'two Hosts in HTTP/1.0': 'GET /v1 HTTP/1.0\r\nHost: x\r\nHost: y\r\n',
    'two Hosts of a page': 'GET /docs HTTP/1.1\r\nHost: x\r\nHost: y\r\n',
    'two Hosts of a beacon': 'POST /v1/telemetry/rum HTTP/1.1\r\nHost: x\r\nHost: y\r\n',
  }
  for (const [name, head] of Object.entries(unserved)) {
    it(`gets 400: ${name}`, async () => {
      // The server closes the connection: the bytes may be meant for another host.
      const text = await exchange(server.url, `${head}\r\n`)
      assertRefused(text, 400, 'BAD_REQUEST')
    })
  }

  it('is logged with method and client if it has two Hosts, which the answer names', async () => {
    const text = await exchange(server.url, `${unserved['two Hosts']}\r\n`)
    assert.match(text, /exactly one header Host/)
    const { method, status, client } = await lineOf(parseAnswer(text).headers)
    assert.deepEqual([method, status, client], ['GET', 400, '127.0.0.0/24'])
  })

  it('gets 400 on any request of a connection that looks up addresses: two Hosts', async () => {
    const lookUp = (hosts: string) =>
      `GET /v1/ip/81.2.69.160 HTTP/1.1\r\n${hosts}X-API-Key: ${key}\r\n\r\n`
    const { socket, received, ended } = await openConnection(server.url)
    for (const hosts of ['Host: x\r\n', 'Host: x\r\n', 'Host: x\r\nHost: y\r\n']) {
      const before = statusesOf(received()).length
      socket.write(lookUp(hosts))
      while (statusesOf(received()).length === before) await once(socket, 'data')
    }
    socket.destroy()
    assert.deepEqual(statusesOf(await ended), ['200', '200', '400'])
  })

  it('gets 400 after a valid request, too', async () => {
    const good = 'GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n'
    const text = await exchange(server.url, `${good}GET /v1 HTTP/9.9\r\n\r\n`)
    const statuses = statusesOf(text)
    assert.equal(statuses.at(-1), '400')
    assert.ok(statuses.length <= 2)
  })

  it('is logged with its request id', async () => {
    const { headers } = parseAnswer(await exchange(server.url, `${HEAD}Content-Length: x\r\n\r\n`))
    const { method, status, client } = await lineOf(headers)
    assert.deepEqual([method, status, client], ['?', 400, '127.0.0.0/24'])
  })
})

/** The line of the log about the answer with these headers. */
async function lineOf(headers: { get(name: string): string | null | undefined }) {
  const id = headers.get('x-request-id') ?? ''
  while (!server.output().includes(id)) await new Promise((resolve) => setTimeout(resolve, 50))
  const line = server
    .output()
    .split('\n')
    .find((text) => text.includes(id))
  return JSON.parse(line ?? '')
}

describe('a request in HTTP/1.0', () => {
  const statusOf = async (request: string) =>
    parseAnswer(await exchange(server.url, request)).status

  it('needs no Host, as the health check of HAProxy', async () => {
    for (const path of ['/health/ready', '/v1', '/docs', '/robots.txt']) {
      assert.equal(await statusOf(`GET ${path} HTTP/1.0\r\n\r\n`), 200)
    }
    const lookUp = `GET /v1/ip/81.2.69.160 HTTP/1.0\r\nX-API-Key: ${key}\r\n\r\n`
    assert.equal(await statusOf(lookUp), 200)
  })

  it('is the last of its connection if it has Transfer-Encoding, as RFC 9112 (6.1) asks', async () => {
    const kept = 'Connection: keep-alive\r\n'
    const login = `Host: x\r\nX-API-Key: ${key}\r\n`
    const body = '{"name":"smuggled","type":"secret"}'
    const length = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`
    const smuggled = `POST /v1/account/me/keys HTTP/1.1\r\n${login}${length}\r\n${body}`
    for (const method of ['GET', 'POST']) {
      const first = `${method} /v1 HTTP/1.0\r\n${kept}${CHUNKED}\r\n0\r\n\r\n`
      const text = await exchange(server.url, first + smuggled)
      const status = method === 'GET' ? '200' : '405'
      assert.deepEqual(statusesOf(text), [status])
      assert.equal(parseAnswer(text).headers.get('connection'), 'close')
    }
    const list = `GET /v1/account/me/keys HTTP/1.0\r\n${login}\r\n`
    assert.equal((await exchange(server.url, list)).includes('smuggled'), false)
  })
})

describe('a request that is too large', () => {
  const many = Array.from({ length: 3_000 }, (_, n) => `x${n}: 1\r\n`).join('')
  const large = {
    'one header': `GET /v1 HTTP/1.1\r\nHost: x\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`,
    'the path': `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: x\r\n\r\n`,
    'all headers together': `GET /v1 HTTP/1.1\r\nHost: x\r\n${many}\r\n`,
  }
  for (const [what, bytes] of Object.entries(large)) {
    it(`gets 431: ${what}`, async () => {
      assertRefused(await exchange(server.url, bytes), 431, 'HEADERS_TOO_LARGE')
    })
  }

  it('may have thousands of headers, and none is dropped', async () => {
    const many = 'a:1\r\n'.repeat(2_500)
    const last = `X-API-Key: ${key}\r\nConnection: close\r\n\r\n`
    const bytes = `GET /v1/ip/81.2.69.160 HTTP/1.1\r\nHost: x\r\n${many}${last}`
    // Bun refuses more than 200 headers.
    assert.equal(parseAnswer(await exchange(server.url, bytes)).status, IS_BUN ? 431 : 200)
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
      assert.deepEqual(statusesOf(await ended), ['401', '200'])
    })
  }
})

describe('methods', () => {
  const ask = async (line: string, headers = '') => {
    const bytes = `${line} HTTP/1.1\r\nHost: x\r\n${headers}Connection: close\r\n\r\n`
    return parseAnswer(await exchange(server.url, bytes))
  }

  it('get 405 if no operation has them, and the answer does not echo the request', async () => {
    for (const method of ['TRACE', 'TRACK', 'PROPFIND', 'PURGE', 'LINK', 'QUERY']) {
      const { status, body } = await ask(`${method} /v1`, `X-Secret: mirror\r\n`)
      assert.ok(status === 405 || status === 400, `${method} ${status}`)
      v.parse(ApiErrorBody, JSON.parse(body))
      assert.equal(body.includes('mirror'), false)
    }
    assert.equal((await ask('TRACE /v1')).status, 405)
  })

  const bunRefuses = IS_BUN && 'Bun refuses it itself'
  it('include OPTIONS for the whole server, on new and on reused connections', {
    skip: bunRefuses,
  }, async () => {
    const ending = 'OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    const lookUp = `GET /v1/ip/81.2.69.160 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`
    for (const before of ['', lookUp]) {
      const text = await exchange(server.url, before + ending)
      const last = text.slice(text.lastIndexOf('HTTP/1.1 '))
      assert.match(last, /^HTTP\/1\.1 204 /)
      assert.match(last, /^allow: GET, HEAD, OPTIONS\r$/im)
    }
    const other = 'GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n'
    assertRefused(await exchange(server.url, other), 400, 'BAD_REQUEST')
  })

  it('include CONNECT, which opens no tunnel', async () => {
    const bytes = 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: x\r\n\r\n'
    const text = await exchange(server.url, bytes + SMUGGLED)
    assert.equal(/^HTTP\/1\.1 2/m.test(text), false, text)
  })

  it('are read from the request line, whatever headers say', async () => {
    for (const name of ['X-HTTP-Method-Override', 'X-HTTP-Method', 'X-Method-Override']) {
      const headers = `X-API-Key: ${key}\r\n${name}: DELETE\r\nContent-Length: 0\r\n`
      assert.equal((await ask('POST /v1/account/me/keys/some', headers)).status, 405, name)
      assert.equal((await ask('GET /v1/account/me/keys', headers)).status, 200, name)
    }
  })

  it('may come with any Expect header', async () => {
    for (const expectation of ['wonders', '100-continue']) {
      const head = `GET /v1 HTTP/1.1\r\nHost: x\r\nExpect: ${expectation}\r\n`
      const text = await exchange(server.url, `${head}Connection: close\r\n\r\n`)
      assert.match(text, /^HTTP\/1\.1 200 /m)
    }
  })

  it('may request an upgrade, and are answered in HTTP/1.1', async () => {
    const headers = 'Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n'
    assert.equal((await ask('GET /v1', headers)).status, 200)
  })
})

describe('the header Host', () => {
  for (const path of words(`
    /v1 / /docs /robots.txt /rum.json /v1/billing/plans /health/ready /.well-known/openapi.json
    /api/auth/get-session /nowhere`)) {
    it(`and similar ones do not influence the answer to ${path}`, async () => {
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
