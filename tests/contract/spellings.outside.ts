import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { AUTH_REQUESTS } from '../../lib/contract/account/auth.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { AUTH_BASE_PATH, DOCS_PATH, HOME_PATH, ROBOTS_PATH } from '../../lib/contract/pages.ts'
import { SCRIPT_PATH } from '../../lib/contract/telemetry/script.ts'
import { installFastPath } from '../../lib/http/fast-path/fast-path.ts'
import { createKeyedLookUps } from '../../routes/request/keyed-look-ups.ts'
import { createListener } from '../../routes/server.ts'
import { examplePath } from '../support/example-path.ts'
import { makeApp, recordingLog, type TestApp } from '../support/helpers.ts'
import { openConnection, parseAnswer } from '../support/raw-connection.ts'
import { freshClient } from '../support/scene/send.ts'
import { words } from '../support/words.ts'

/*
 * However a path is spelt, a request either matches no operation or is checked by the access check
 * of the operation that answers it. This holds on the fast path and through the router.
 */

const rows: readonly Operation[] = operations

const log = recordingLog()
let app: TestApp
/** One server has the fast path, as in production; the other only the router. */
const urls = { both: '', router: '' }
const servers: Server[] = []
let keys: Readonly<Record<string, string>>
before(async () => {
  app = await makeApp({
    log,
    env: { MERIDIAN_CONTACT: 'store', MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' },
  })
  keys = { none: '', powerless: await app.makeKey({ scopes: [] }) }
  const fastLookUps = createKeyedLookUps(app.services)
  urls.router = await listen(() => {})
  urls.both = await listen((server) =>
    installFastPath(server, { answer: fastLookUps, onError: assert.ifError }),
  )
})
after(async () => {
  for (const server of servers) server.close()
  await app.close()
})

async function listen(prepare: (server: Server) => void): Promise<string> {
  const server = createServer(createListener(app.services))
  prepare(server)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // safe: it listens on a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Outcome {
  readonly status: number
  readonly code: string | undefined
  /** The route in the log; undefined: the path matches no operation. */
  readonly route: string | undefined
}

async function outcome(url: string, method: string, target: string, key: string): Promise<Outcome> {
  const credential = key === '' ? '' : `X-API-Key: ${key}\r\n`
  // Each client has an address of its own: the requests of one address are limited.
  const client = `X-Forwarded-For: ${freshClient()}\r\n`
  const length = method === 'GET' ? '' : 'Content-Length: 0\r\n'
  const head = `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\n`
  const text = await ask(url, `${head}${client}${credential}${length}\r\n`)
  const { status, body } = parseAnswer(text)
  const code = /"code":"(\w+)"/.exec(body)?.[1]
  return { status, code, route: log.requests.at(-1)?.route }
}

/** Sends `bytes`. A GET is the second request of its connection, so that the fast path may take it. */
async function ask(url: string, bytes: string): Promise<string> {
  const { socket, received, ended } = await openConnection(url)
  const answerTo = async (request: string) => {
    const before = received().length
    log.requests.length = 0
    socket.write(request, 'latin1')
    while (!isWhole(received().slice(before)) && !socket.destroyed) {
      await Promise.race([once(socket, 'data'), ended])
    }
    return received().slice(before)
  }
  if (bytes.startsWith('GET '))
    await answerTo(`GET ${ROBOTS_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`)
  const answer = await answerTo(bytes)
  socket.destroy()
  return answer
}

function isWhole(text: string): boolean {
  const [head = '', body] = text.split('\r\n\r\n')
  if (/^transfer-encoding: chunked/im.test(head)) return text.endsWith('0\r\n\r\n')
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0)
  return body !== undefined && text.length >= head.length + 4 + length
}

const BEFORE = words(`/ //127.0.0.1 /. /x/.. /../.. /%2e%2e /health/.. http://127.0.0.1
  http://evil.example HTTP://127.0.0.1 http: *`)
const BETWEEN = words('/ /. /x/.. /x/%2e%2E ;a=b')
const AFTER = words(`/ // /. /.. /%2e%2e/x /..;/x ; ;a=b %00 %20 %0d%0a . .json * % %zz %c0%af
  ? ?/../x #x %3f %23`).concat('\0', '\xe9')

/** Spellings of the path that a proxy or router may read as a different path. */
function spellings(path: string): string[] {
  const middle = path.indexOf('/', 1) < 0 ? path.length : path.indexOf('/', 1)
  const [first, last] = [path.slice(0, middle), path.slice(middle)]
  const rest = path.slice(1)
  const coded = (letter: string) => letter.charCodeAt(0).toString(16)
  return [
    path,
    rest,
    ...BEFORE.map((start) => start + path),
    ...BETWEEN.map((middle) => first + middle + last),
    ...AFTER.map((end) => path + end),
    ...['%2F', '%252F', '%5C'].map((slash) => `/${rest.replaceAll('/', slash)}`),
    `/..%2f${rest}`,
    `%2F${rest}`,
    path.toUpperCase(),
    path.replace(/[a-z]/, (letter) => letter.toUpperCase()),
    path.replace(/[a-z]/g, (letter) => `%${coded(letter)}`),
    path.replace(/[a-z]/, (letter) => `%25${coded(letter)}`),
    path.replaceAll('/', '\\'),
    `${first}\\${last.slice(1)}`,
    `${path}/${'a'.repeat(9_000)}`,
    `${'/a'.repeat(4_000)}${path}`,
  ]
}

/** The operation that the log names. */
function rowOf(method: string, route: string | undefined): Operation | undefined {
  return rows.find((row) => row.path === route && row.method.toUpperCase() === method)
}

/** Fails if a caller without access was not refused by the operation. */
function assertGuarded(method: string, { status, code, route }: Outcome, name: string): void {
  const row = rowOf(method, route)
  if (row === undefined || row.access === 'public') return
  const allowed = name === 'none' ? ['UNAUTHORIZED', 'ANONYMOUS_ACCESS'] : ['INSUFFICIENT_SCOPE']
  assert.ok(code !== undefined && allowed.includes(code), `${route} answered ${status} ${code}`)
}

const requests = [
  ...rows.map((row) => ({ method: row.method.toUpperCase(), path: examplePath(row) })),
  ...AUTH_REQUESTS.map(({ method, path }) => ({ method, path: `${AUTH_BASE_PATH}${path}` })),
  ...[HOME_PATH, DOCS_PATH, ROBOTS_PATH, SCRIPT_PATH].map((path) => ({ method: 'GET', path })),
]

describe('an unusual spelling of a request', () => {
  for (const { method, path } of requests) {
    it(`${method} ${path} reaches its access check or no operation, with and without the fast path`, async () => {
      for (const target of spellings(path)) {
        for (const [name, key] of Object.entries(keys)) {
          const what = `${method} ${target.slice(0, 100)} with ${name}`
          const both = await outcome(urls.both, method, target, key)
          assert.deepEqual(await outcome(urls.router, method, target, key), both, what)
          assert.ok(both.status >= 200 && both.status < 500, `${what}: ${both.status}`)
          assertGuarded(method, both, name)
        }
      }
    })
  }

  it('reaches each operation when spelt as in the contract', async () => {
    for (const row of rows) {
      const { route } = await outcome(urls.both, row.method.toUpperCase(), examplePath(row), '')
      assert.equal(route, row.path)
    }
  })
})
