import assert from 'node:assert/strict'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { getRequestListener, type HttpBindings } from '@hono/node-server'
import { AUTH_BASE_PATH, AUTH_REQUESTS } from '../../lib/contract/auth.ts'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { DOCS_PATH, HOME_PATH, ROBOTS_PATH } from '../../lib/contract/pages.ts'
import { SCRIPT_PATH } from '../../lib/contract/script.ts'
import { createListener } from '../../lib/listener.ts'
import { createApp, createRoutes } from '../../routes/app.ts'
import { createStraight } from '../../routes/straight.ts'
import { freshClient, makeApp, recordingLog, type TestApp } from '../helpers.ts'
import { exchange, parseAnswer } from '../raw-connection.ts'

/*
 * However a path is spelt, its request comes to the guard of the operation that answers it, or to
 * nobody, and it does so alike whether it goes straight from node:http or through the router.
 */

const rows: readonly Operation[] = operations

const log = recordingLog()
let app: TestApp
/** Answers as the server does, and through the router alone. */
const urls = { both: '', router: '' }
const servers: Server[] = []
let keys: Readonly<Record<string, string>>
before(async () => {
  app = await makeApp({
    log,
    env: { MERIDIAN_CONTACT: 'store', MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' },
  })
  keys = { none: '', powerless: await app.makeKey({ scopes: [] }) }
  const routes = createRoutes(app.services)
  const hono = createApp(app.services, routes)
  const router = getRequestListener((request, env) =>
    // safe: the adaptor passes the bindings of Node
    hono.fetch(request, { remoteAddress: (env as HttpBindings).incoming.socket.remoteAddress }),
  )
  urls.both = await listen(createListener(createStraight(routes), router, assert.ifError))
  urls.router = await listen(router)
})
after(() => {
  for (const server of servers) server.close()
  app.close()
})

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  // safe: it listens on a port
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Outcome {
  readonly status: number
  readonly code: string | undefined
  /** What the log calls the path; undefined: nobody's. */
  readonly route: string | undefined
}

async function outcome(url: string, method: string, target: string, key: string): Promise<Outcome> {
  log.requests.length = 0
  const credential = key === '' ? '' : `X-API-Key: ${key}\r\n`
  // Of a client of its own: requests of one are limited.
  const client = `X-Forwarded-For: ${freshClient()}\r\n`
  const head = `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n`
  const length = method === 'GET' ? '' : 'Content-Length: 0\r\n'
  const text = await exchange(url, `${head}${client}${credential}${length}\r\n`)
  const { status, body } = parseAnswer(text)
  const code = /"code":"(\w+)"/.exec(body)?.[1]
  return { status, code, route: log.requests.at(-1)?.route }
}

/** Ways to write the path so that something on its way may take it for another one. */
function spellings(path: string): string[] {
  const middle = path.indexOf('/', 1) < 0 ? path.length : path.indexOf('/', 1)
  const [first, last] = [path.slice(0, middle), path.slice(middle)]
  return [
    path,
    `/${path}`,
    `//127.0.0.1${path}`,
    `${path}/`,
    `${path}//`,
    `${first}/${last}`,
    `${first}/.${last}`,
    `${first}/x/..${last}`,
    `${first}/x/%2e%2E${last}`,
    `/.${path}`,
    `/x/..${path}`,
    `/../..${path}`,
    `/%2e%2e${path}`,
    `/health/..${path}`,
    `/..%2f${path.slice(1)}`,
    `${path}/.`,
    `${path}/..`,
    `${path}/%2e%2e/x`,
    `${path}/..;/x`,
    `${path};`,
    `${path};a=b`,
    `${first};a=b${last}`,
    path.toUpperCase(),
    path.replace(/[a-z]/, (letter) => letter.toUpperCase()),
    path.replace(/[a-z]/g, (letter) => `%${letter.charCodeAt(0).toString(16)}`),
    path.replace(/[a-z]/, (letter) => `%25${letter.charCodeAt(0).toString(16)}`),
    `/${path.slice(1).replaceAll('/', '%2F')}`,
    `/${path.slice(1).replaceAll('/', '%252F')}`,
    `%2F${path.slice(1)}`,
    path.replaceAll('/', '\\'),
    `${first}\\${last.slice(1)}`,
    `/${path.slice(1).replaceAll('/', '%5C')}`,
    `${path}%00`,
    `${path}\0`,
    `${path}%20`,
    `${path}%0d%0a`,
    `${path}.`,
    `${path}.json`,
    `${path}*`,
    `${path}%`,
    `${path}%zz`,
    `${path}%c0%af`,
    `${path}\xe9`,
    `${path}?`,
    `${path}?/../x`,
    `${path}#x`,
    `${path}%3f`,
    `${path}%23`,
    `http://127.0.0.1${path}`,
    `http://evil.example${path}`,
    `HTTP://127.0.0.1${path}`,
    `http:${path}`,
    path.slice(1),
    `*${path}`,
    `${path}/${'a'.repeat(9_000)}`,
    `${'/a'.repeat(4_000)}${path}`,
  ]
}

/** The operation that the log names. */
function rowOf(method: string, route: string | undefined): Operation | undefined {
  return rows.find((row) => row.path === route && row.method.toUpperCase() === method)
}

/** Fails unless who has no right, and reached this operation, was told so. */
function assertGuarded(method: string, { status, code, route }: Outcome, name: string): void {
  const row = rowOf(method, route)
  if (row === undefined || row.access === 'public') return
  const allowed = name === 'none' ? ['UNAUTHORIZED', 'ANONYMOUS_ACCESS'] : ['INSUFFICIENT_SCOPE']
  assert.ok(code !== undefined && allowed.includes(code), `${route} answered ${status} ${code}`)
}

const requests = [
  ...rows.map(({ method, path }) => ({
    method: method.toUpperCase(),
    path: path.replace('{ipAddress}', '81.2.69.160').replaceAll(/\{\w+\}/g, 'some'),
  })),
  ...AUTH_REQUESTS.map(({ method, path }) => ({
    method,
    path: `${AUTH_BASE_PATH}${path.replace(':token', 'some')}`,
  })),
  ...[HOME_PATH, DOCS_PATH, ROBOTS_PATH, SCRIPT_PATH].map((path) => ({ method: 'GET', path })),
]

describe('however it is spelt', () => {
  for (const { method, path } of requests) {
    it(`${method} ${path} comes to its guard or to nobody, alike on both ways`, async () => {
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

  it('each is reached when it is spelt as the interface does', async () => {
    for (const { method, path } of rows) {
      const plain = path.replace('{ipAddress}', '81.2.69.160').replaceAll(/\{\w+\}/g, 'some')
      const { route } = await outcome(urls.both, method.toUpperCase(), plain, '')
      assert.equal(route, path)
    }
  })
})
