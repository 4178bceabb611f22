import fc from 'fast-check'
import { words } from '../../support/words.ts'
import { IPV4, IPV6, lookUp, method, mostly, ODD_IPV4, target, version } from './targets.ts'

/* Requests as bytes: mostly plain ones, with parts that HTTP parsers are known to read differently. */

export interface Keys {
  /** Reads places and accounts, and changes nothing. */
  readonly secret: string
  /** For pages of https://a.example. */
  readonly publishable: string
}

const HOSTS = [...words('A.Example a.example:80 a.example:99999 [::1] [::1]:80 a/b'), '', 'a b']
const ODD_HOSTS = words(`
  a@b a_b a.example. é.example 1.2.3.4 0x7f.1 1.2.3.400 1.2.3.400:80 a..b 999 xn--a a.example:8787
  a%41 a,b a?b a#b`)
const host = mostly('a.example', ...HOSTS, ...ODD_HOSTS)

type Header = readonly [name: string, value: string]

function headers({ secret, publishable }: Keys): fc.Arbitrary<Header> {
  const odd = [`${secret} `, `${secret},${secret}`, secret.toUpperCase(), `${secret}x`]
  const key = mostly(secret, publishable, '', ...odd, 'mk_x')
  const basic = `Basic ${Buffer.from(`${secret}:`).toString('base64')}`
  const others = [`bearer ${publishable}`, `Basic ${secret}`, basic, `Bearer  ${secret}`, secret]
  const login = mostly(`Bearer ${secret}`, ...others, 'Bearer')
  const named = (name: string, ...values: readonly string[]) =>
    fc.constantFrom(...values).map((value): Header => [name, value])
  return fc.oneof(
    { weight: 6, arbitrary: key.map((value): Header => ['X-API-Key', value]) },
    { weight: 2, arbitrary: login.map((value): Header => ['Authorization', value]) },
    named('Origin', 'https://a.example', 'https://evil.example', 'null', ''),
    named('Connection', ...words('keep-alive Keep-Alive close upgrade x')),
    named('Connection', 'keep-alive, TE', 'close, keep-alive'),
    named('Accept', 'text/html', '*/*', 'application/json', 'text/plain', 'text/csv;q=0.5'),
    named('Accept-Encoding', 'gzip', 'identity', 'gzip;q=0'),
    named('X-Request-Id', '0197a6a0-0000-7000-8000-000000000000', 'x', ''),
    named('X-Forwarded-For', '81.2.69.160', '8.8.8.8, 127.0.0.1', 'x'),
    named('Expect', '100-continue', 'wonders'),
    named('Upgrade', 'h2c', 'websocket'),
    named('Transfer-Encoding', 'chunked', 'gzip, chunked', 'identity', 'Chunked', ''),
    named('Content-Length', '0', '00', '2', '+1', '1, 1', 'x', ''),
    named('Content-Type', 'application/json', 'text/plain', 'application/x-www-form-urlencoded'),
    named('TE', 'trailers'),
    named('Trailer', 'X-API-Key'),
    named('Keep-Alive', 'timeout=1'),
    named('Proxy-Connection', 'keep-alive'),
    named('If-None-Match', '*'),
    named('Range', 'bytes=0-1'),
    named('Cookie', 'meridian_dashboard=x', 'a=b; c="d'),
    named('X-Odd', 'a\tb', 'é', 'a\u0000b', '"', ' ', 'a'.repeat(3_000)),
    fc.tuple(
      fc.stringMatching(/^[A-Za-z_!-][A-Za-z0-9_-]{0,6}$/),
      fc.stringMatching(/^[ -~]{0,9}$/),
    ),
  )
}

const colon = mostly(': ', ':', ' : ', ':\t', ':  ', ' ')
const lineEnd = mostly('\r\n', '\n', '\r', ' \r\n', '\r\n ', '\r\r\n')
const rareEnd = fc.oneof({ weight: 12, arbitrary: fc.constant('\r\n') }, lineEnd)
const cased = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
)

function headerLine(header: fc.Arbitrary<Header>): fc.Arbitrary<string> {
  return fc
    .tuple(header, colon, rareEnd, cased)
    .map(([[name, value], between, end, change]) => `${change(name)}${between}${value}${end}`)
}

const BATCH = '{"ips":["81.2.69.160","2001:db8::1"]}'
const content = fc.constantFrom(
  ...['', '{}', BATCH, `${BATCH} `, '[', '\r\n', 'é'],
  'GET /v1 HTTP/1.1\r\nHost: x\r\n\r\n',
)

/** The headers that frame a body, and the body. */
const body = fc.oneof(
  { weight: 8, arbitrary: fc.constant(['', '']) },
  { weight: 3, arbitrary: content.map((text) => [`Content-Length: ${text.length}\r\n`, text]) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(content, fc.integer({ min: -2, max: 3 }))
      .map(([text, error]) => [`Content-Length: ${text.length + error}\r\n`, text]),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        content,
        mostly('', ';a=b', ';a="b"', ' ', '\t', ';'),
        mostly('0\r\n\r\n', '0\r\nX-API-Key: x\r\n\r\n', '00\r\n\r\n', '', '0\n\n', 'g\r\n\r\n'),
      )
      .map(([text, extension, end]) => {
        const chunk = text === '' ? '' : `${text.length.toString(16)}${extension}\r\n${text}\r\n`
        return ['Transfer-Encoding: chunked\r\n', chunk + end]
      }),
  },
)

/** A request that every server reads the same way, unlike the others. */
function plainRequest({ secret }: Keys): fc.Arbitrary<string> {
  const ip = fc.constantFrom(...IPV4, ...IPV6, ...ODD_IPV4, '::g')
  return fc.tuple(ip, fc.constantFrom('', '/timezone', '/validation')).map(([address, more]) => {
    const head = `GET /v1/ip/${address}${more} HTTP/1.1\r\nHost: a.example\r\n`
    return `${head}X-API-Key: ${secret}\r\n\r\n`
  })
}

/** A look-up with a key whose head is odd in one place, if at all: nearly one for the fast path. */
function nearlyPlainRequest(keys: Keys): fc.Arbitrary<string> {
  const plain = `X-API-Key: ${keys.secret}\r\n`
  const oneMore = fc.oneof(
    fc.constant(''),
    fc.constantFrom(...HOSTS, ...ODD_HOSTS).map((value) => `host: ${value}\r\n`),
    headers(keys).map(([name, value]) => `${name}: ${value}\r\n`),
    headerLine(headers(keys)),
  )
  const hostLine = fc.oneof(
    { weight: 9, arbitrary: fc.oneof(host, fc.constantFrom(...HOSTS, ...ODD_HOSTS)) },
    { weight: 1, arbitrary: fc.constant(null) },
  )
  return fc
    .tuple(mostly('GET', 'HEAD'), lookUp, mostly('1.1', '1.0'), hostLine, oneMore, fc.boolean())
    .map(([verb, to, http, name, more, isFirst]) => {
      const lines = isFirst ? more + plain : plain + more
      return `${verb} ${to} HTTP/${http}\r\n${name === null ? '' : `Host: ${name}\r\n`}${lines}\r\n`
    })
}

function oddRequest(keys: Keys): fc.Arbitrary<string> {
  const hostLine = headerLine(host.map((value): Header => ['Host', value]))
  const hosts = fc.oneof(
    { weight: 12, arbitrary: hostLine },
    { weight: 1, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: fc.tuple(hostLine, hostLine).map((lines) => lines.join('')) },
  )
  const lines = fc.array(headerLine(headers(keys)), { maxLength: 5 }).map((all) => all.join(''))
  const before = mostly('', '\r\n', '\n', ' ')
  const start = fc
    .tuple(before, method, target, version, rareEnd)
    .map(([first, verb, to, http, end]) => `${first}${verb} ${to} ${http}${end}`)
  return fc
    .tuple(start, hosts, lines, body, rareEnd)
    .map(([line, hostLines, others, [framing = '', text = ''], last]) =>
      [line, hostLines, others, framing, last, text].join(''),
    )
}

/** Changes some bytes: `at` is a part of the length. */
const change = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  remove: fc.constantFrom(0, 1, 1, 2, 40),
  insert: fc.oneof(
    fc.constantFrom('', '\r', '\n', '\r\n', ' ', '\t', ':', '\0', '%', '/', '\x80', 'GET '),
    fc.integer({ min: 0, max: 255 }).map((code) => String.fromCharCode(code)),
  ),
})
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

function withChanges(bytes: string, changes: readonly Change[]): string {
  return changes.reduce((text, { at, remove, insert }) => {
    const from = Math.floor(at * text.length)
    return text.slice(0, from) + insert + text.slice(from + remove)
  }, bytes)
}

const changes = fc.oneof(
  { weight: 3, arbitrary: fc.constant([]) },
  { weight: 1, arbitrary: fc.array(change, { minLength: 1, maxLength: 3 }) },
)

/** Bytes in latin1 that a client may send on one connection: one request or a few. */
export function conversation(keys: Keys): fc.Arbitrary<string> {
  const message = fc.oneof(
    { weight: 1, arbitrary: plainRequest(keys) },
    { weight: 1, arbitrary: nearlyPlainRequest(keys) },
    { weight: 3, arbitrary: oddRequest(keys) },
  )
  const messages = fc.array(message, { minLength: 1, maxLength: 3 }).map((all) => all.join(''))
  return fc.oneof(
    nearlyPlainRequest(keys),
    fc.tuple(messages, changes).map(([bytes, all]) => withChanges(bytes, all)),
  )
}
