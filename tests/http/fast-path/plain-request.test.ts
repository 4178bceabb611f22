import assert from 'node:assert/strict'
import { createServer, type IncomingMessage } from 'node:http'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { GetReader, RequestReader } from '../../../lib/http/fast-path/plain-request.ts'
import { listenLocally } from '../../support/loopback-server.ts'
import { openConnection } from '../../support/raw-connection.ts'

const GET = 'GET /v1/ip/8.8.8.8 HTTP/1.1\r\n'
const POST = 'POST /v1/telemetry/rum HTTP/1.1\r\n'
const HOST = 'Host: a.example\r\n'

function read(text: string, reader = new RequestReader()) {
  return reader.read(Buffer.from(text, 'latin1'))
}

const readOnly = (text: string, reader = new GetReader('close')) =>
  reader.read(Buffer.from(text, 'latin1'))

describe('RequestReader', () => {
  it('reads the path and the headers, with names in lower case', () => {
    assert.deepEqual(read(`${GET}${HOST}X-API-Key: a: b  c\r\nconnection: Keep-Alive\r\n\r\n`), {
      method: 'GET',
      body: null,
      url: '/v1/ip/8.8.8.8',
      headers: { host: 'a.example', 'x-api-key': 'a: b  c', connection: 'Keep-Alive' },
    })
  })

  it('reads headers that change neither the end of a request nor its connection', () => {
    // RFC 9110, sections 6.6.2 and 10.1.4; RFC 2068, section 19.7.1.1
    for (const header of ['TE: trailers', 'Trailer: X-API-Key', 'Keep-Alive: timeout=1'])
      assert.ok(read(`${GET}${HOST}${header}\r\n\r\n`), header)
  })

  it('reads a POST with its body', () => {
    const body = '{"a":"\xe9"}\r\n\r\nGET / HTTP/1.1'
    for (const sent of [body, '']) {
      const text = `${POST}${HOST}Content-Length: ${sent.length}\r\n\r\n${sent}`
      assert.deepEqual(read(text), {
        method: 'POST',
        url: '/v1/telemetry/rum',
        headers: { host: 'a.example', 'content-length': String(sent.length) },
        body: Buffer.from(sent, 'latin1'),
      })
    }
  })

  it('does not carry headers from one request to the next', () => {
    const reader = new RequestReader()
    for (const key of ['one', 'two', 'two', 'three']) {
      const head = read(`${GET}${HOST}X-API-Key: ${key}\r\n\r\n`, reader)
      assert.equal(head?.headers['x-api-key'], key)
    }
    assert.deepEqual(read(`${GET}${HOST}\r\n`, reader)?.headers, { host: 'a.example' })
  })

  it('does not carry headers from one connection to the next', () => {
    const reader = new GetReader('close')
    for (const key of ['one', 'two', 'two', 'three']) {
      const head = readOnly(`${GET}${HOST}X-API-Key: ${key}\r\nConnection: close\r\n\r\n`, reader)
      assert.equal(head?.headers['x-api-key'], key)
    }
    for (const repeated of [1, 2])
      assert.equal(readOnly(`${GET}${HOST}\r\n`, reader), null, `${repeated}`)
    const lengthOf = (length: string) =>
      readOnly(`${GET}${HOST}Connection: close\r\n${length}\r\n`, reader)
    assert.equal(lengthOf('Content-Length: 0\r\n'), null)
    assert.deepEqual(lengthOf('')?.headers, { host: 'a.example', connection: 'close' })
  })

  const others: Readonly<Record<string, string>> = {
    nothing: '',
    'half a request': `${GET}${HOST}`,
    'half an end': `${GET}${HOST}\r`,
    'no header': `${GET}\r\n`,
    'a request and a byte': `${GET}${HOST}\r\nx`,
    'a request after an empty line': `\r\n${GET}${HOST}\r\n`,
    'two requests': `${GET}${HOST}\r\n${GET}${HOST}\r\n`,
    'another method': `HEAD / HTTP/1.1\r\n${HOST}\r\n`,
    'another version': `GET / HTTP/1.0\r\n${HOST}\r\n`,
    'no version': `GET /\r\n${HOST}\r\n`,
    'a blank in the path': `GET /a b HTTP/1.1\r\n${HOST}\r\n`,
    'a line end in the path': `GET /a\r\nX: HTTP/1.1\r\n${HOST}\r\n`,
    'a whole URL': `GET http://a.example/ HTTP/1.1\r\n${HOST}\r\n`,
    'a letter that is not ASCII in the path': `GET /\xe9 HTTP/1.1\r\n${HOST}\r\n`,
    'a body': `${GET}${HOST}Content-Length: 2\r\n\r\n{}`,
    'a body that has not arrived': `${GET}${HOST}content-length: 2\r\n\r\n`,
    'an empty body': `${GET}${HOST}Content-Length: 0\r\n\r\n`,
    'a body in chunks': `${GET}${HOST}Transfer-Encoding: chunked\r\n\r\n`,
    'Proxy-Connection': `${GET}${HOST}Proxy-Connection: keep-alive\r\n\r\n`,
    'an upgrade': `${GET}${HOST}Upgrade: h2c\r\n\r\n`,
    'Connection: close': `${GET}${HOST}Connection: close\r\n\r\n`,
    'a list in Connection': `${GET}${HOST}Connection: keep-alive, TE\r\n\r\n`,
    'an expectation': `${GET}${HOST}Expect: 100-continue\r\n\r\n`,
    'a repeated header': `${GET}${HOST}host: b.example\r\n\r\n`,
    'a folded header': `${GET}${HOST}X: a\r\n b\r\n\r\n`,
    'a header without a value': `${GET}${HOST}X:\r\n\r\n`,
    'a blank before the colon': `${GET}${HOST}X : a\r\n\r\n`,
    'no blank after the colon': `${GET}${HOST}X:a\r\n\r\n`,
    'a blank at the end of a line': `${GET}${HOST}X: a \r\n\r\n`,
    'a tab': `${GET}${HOST}X: a\tb\r\n\r\n`,
    'a null byte': `${GET}${HOST}X: a\0b\r\n\r\n`,
    'a letter that is not ASCII': `${GET}${HOST}X: \xe9\r\n\r\n`,
    'a line that ends with LF alone': `${GET}${HOST}X: a\nContent-Length: 2\r\n\r\n`,
    'a line that ends with CR alone': `${GET}${HOST}X: a\rContent-Length: 2\r\n\r\n`,
    'an underscore in a name': `${GET}${HOST}X_Y: a\r\n\r\n`,
    'a POST without a length': `${POST}${HOST}\r\n`,
    'a POST whose body has not arrived': `${POST}${HOST}Content-Length: 3\r\n\r\n{}`,
    'a POST and a byte': `${POST}${HOST}Content-Length: 2\r\n\r\n{}x`,
    'a POST and a GET': `${POST}${HOST}Content-Length: 2\r\n\r\n{}${GET}${HOST}\r\n`,
    'two lengths': `${POST}${HOST}Content-Length: 2\r\ncontent-length: 2\r\n\r\n{}`,
    'a length with a sign': `${POST}${HOST}Content-Length: +2\r\n\r\n{}`,
    'a length and chunks': `${POST}${HOST}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    'a POST with an expectation': `${POST}${HOST}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`,
    'a method that begins like POST': `PUT / HTTP/1.1\r\n${HOST}Content-Length: 2\r\n\r\n{}`,
    'a POST of another version': `POST / HTTP/1.0\r\n${HOST}Content-Length: 2\r\n\r\n{}`,
    'a POST of more than 8 KB': `${POST}${HOST}Content-Length: 8192\r\n\r\n${' '.repeat(8_192)}`,
    'more than 2 KB': `${GET}${HOST}X: ${'a'.repeat(2_048)}\r\n\r\n`,
  }
  for (const [name, text] of Object.entries(others)) {
    it(`leaves to node:http: ${name}`, () => assert.equal(read(text), null))
  }

  const [CLOSE, HTTP10] = ['Connection: close\r\n', 'GET /v1/ip/8.8.8.8 HTTP/1.0\r\n']
  for (const line of [GET, HTTP10]) {
    it(`reads the only request of a connection: ${line.trim()}`, () => {
      assert.deepEqual(readOnly(`${line}${HOST}X-API-Key: a\r\nconnection: Close\r\n\r\n`), {
        method: 'GET',
        body: null,
        url: '/v1/ip/8.8.8.8',
        headers: { host: 'a.example', 'x-api-key': 'a', connection: 'Close' },
      })
      assert.equal(readOnly(`${line}${HOST}\r\n`), null)
      assert.equal(readOnly(`${line}${HOST}Connection: keep-alive\r\n\r\n`), null)
      assert.equal(readOnly(`${line}${HOST}Connection: close, TE\r\n\r\n`), null)
    })
  }
  const odd = Object.entries(others).filter(([name]) => !/Connection|another version/.test(name))
  for (const [name, text] of odd) {
    it(`leaves to node:http, though the connection is to close: ${name}`, () => {
      for (const line of [GET, HTTP10]) {
        assert.equal(readOnly(text.replace(GET, line).replace(HOST, `${HOST}${CLOSE}`)), null)
      }
    })
  }

  it('reads every request as node:http does', async () => {
    const server = createServer(async (request, response) => {
      const body = Buffer.concat(await request.toArray())
      response.end(toText(request, body))
    })
    const url = await listenLocally(server)
    try {
      await fc.assert(
        fc.asyncProperty(request, async (text) => {
          const head = read(text) ?? readOnly(text)
          fc.pre(head !== null)
          const { socket, ended } = await openConnection(url)
          socket.end(text, 'latin1')
          const [, body] = (await ended).split('\r\n\r\n')
          assert.equal(body, toText(head, Buffer.from(head.body ?? '')))
        }),
        { numRuns: 300 },
      )
    } finally {
      server.close()
    }
  })
})

type Head = Pick<IncomingMessage, 'url' | 'headers' | 'method'>

function toText({ method, url, headers }: Head, body: Buffer): string {
  return JSON.stringify({ method, url, headers, body: body.toString('hex') })
}

/** Mostly plain requests, with parts that HTTP parsers are known to read differently. */
const name = fc.oneof(
  fc.constantFrom('X-API-Key', 'cookie', 'x-forwarded-for', 'Range', 'Connection'),
  fc.constantFrom('TE', 'Trailer', 'Keep-Alive'),
  fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,8}$/),
)
const value = fc.oneof(
  fc.constantFrom('keep-alive', 'close', 'a, b', '"a'),
  fc.stringMatching(/^[ -~]{1,9}$/),
)
const line = fc.tuple(name, value).map(([left, right]) => `${left}: ${right}\r\n`)
const target = fc.stringMatching(/^\/[!-~]{0,12}$/)
const lines = fc.array(line, { maxLength: 4 }).map((all) => all.join(''))
const ending = fc.constantFrom('', 'Connection: close\r\n')
const get = fc
  .tuple(target, fc.constantFrom('0', '1'), ending, lines)
  .map(([path, minor, end, others]) => `GET ${path} HTTP/1.${minor}\r\n${HOST}${end}${others}\r\n`)
const content = fc.stringMatching(/^[\r\n\x80-\xff{}]{0,9}$/)
const post = fc
  .tuple(target, lines, content, fc.constantFrom('', '0', ' '))
  .map(([path, others, body, before]) => {
    const length = `Content-Length: ${before}${body.length}\r\n`
    return `POST ${path} HTTP/1.1\r\n${HOST}${length}${others}\r\n${body}`
  })
const request = fc.oneof(get, post)
