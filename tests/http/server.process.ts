import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { GeolocationResult } from '../../lib/contract/geo/geolocation.ts'
import { findFreePort } from '../../scripts/parts/start-process.ts'
import {
  newDataFolder,
  type Running,
  runScript,
  startServer,
  untilHealthy,
} from '../support/process.ts'
import { exchange, openConnection } from '../support/raw-connection.ts'

const KEY = /^[sp]k_live_[0-9a-f]{64}\n$/
const { dataDir, settings, remove } = newDataFolder()
after(remove)

/** Runs `npm run key` with these options. */
const makeKey = (...options: string[]) => runScript(['scripts/key.ts', ...options], settings)

describe('the server', () => {
  let server: Running
  before(async () => {
    server = await startServer(settings)
  })

  it('prints its URL, its databases and how to make a key', () => {
    const lines = server.output()
    assert.match(lines, /^Meridian +http:\/\/127\.0\.0\.1:\d+$/m)
    assert.ok(lines.includes(`\nDashboard    ${server.url}/app\n`))
    assert.ok(lines.includes(`\nReference    ${server.url}/docs\n`))
    assert.match(lines, /^Databases +City \(maxmind\), built 2026-01-13$/m)
    assert.match(
      lines,
      /^First key +http:\S+\/app\/sign-up, or\n +npm run --silent key -- --email/m,
    )
  })

  it('accepts at once a key that is made while the server runs', async () => {
    const { code, stdout, stderr } = await makeKey('--email', 'ada@example.com', '--name', 'first')
    assert.equal(code, 0)
    assert.match(stdout, KEY, 'stdout has only the key')
    assert.match(stderr, /plan unlimited/)
    assert.equal(stderr.includes(stdout.trim()), false)
    const headers = { 'x-api-key': stdout.trim() }
    const answer = await fetch(`${server.url}/v1/ip/81.2.69.160`, { headers })
    assert.equal(answer.status, 200)
    const { location, meta } = v.parse(GeolocationResult, await answer.json())
    assert.deepEqual([location?.city, meta?.tier], ['London', 'unlimited'])
  })

  it('answers every request of a keep-alive connection in the same way', async () => {
    const key = (
      await makeKey('--email', 'ada@example.com', '--name', 'kept', '--scopes', 'all')
    ).stdout.trim()
    const ids = 'X-Request-Id: 6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01'
    const request = `GET /v1/ip/81.2.69.160 HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n${ids}\r\n\r\n`
    const { socket, received } = await openConnection(server.url)
    const answers: string[] = []
    for (let at = 0; at < 3; at++) {
      const before = received().length
      socket.write(request)
      // Bun sends chunks, which end with an empty one.
      const isWhole = () => /"degraded":false\}\}(\r\n0\r\n\r\n)?$/.test(received().slice(before))
      while (!isWhole()) await once(socket, 'data')
      answers.push(received().slice(before))
    }
    socket.destroy()
    assert.match(answers[0] ?? '', /^HTTP\/1\.1 200 OK\r\n/)
    const [first, ...others] = answers.map((answer) => {
      const steady = answer.replace(/^Date: .* GMT\r\n/m, '').replace(/;r=\d+;t=\d+/, '')
      const [head = '', body] = steady.split('\r\n\r\n')
      // Runtimes differ in the order and case of header names.
      const lines = head.split('\r\n')
      const fields = lines.map((line) => line.replace(/^[^:]+/, (name) => name.toLowerCase()))
      return { fields: fields.sort(), body }
    })
    assert.deepEqual(others, [first, first])
  })

  it('serves a landing page whose key works only for pages of this server', async () => {
    const page = await (await fetch(`${server.url}/`)).text()
    const key = /data-key="(\w+)"/.exec(page)?.[1] ?? ''
    assert.match(`${key}\n`, KEY)
    const locate = (site: string) =>
      fetch(`${server.url}/v1/ip/81.2.69.160`, {
        headers: { 'x-api-key': key, 'sec-fetch-site': site },
      })
    assert.equal((await locate('same-origin')).status, 200)
    assert.equal((await locate('cross-site')).status, 403)
  })

  it('refuses at once a key that is revoked while the server runs', async () => {
    const email = 'revoked@example.com'
    const key = (await makeKey('--email', email, '--name', 'old', '--scopes', 'all')).stdout.trim()
    const locate = () => fetch(`${server.url}/v1/ip/81.2.69.160`, { headers: { 'x-api-key': key } })
    assert.equal((await locate()).status, 200)
    const listed = await makeKey('--email', email, '--list')
    assert.match(listed.stdout, new RegExp(`^Prefix .*Name\n${key.slice(0, 16)} .* old\n$`))
    const asJson = await makeKey('--email', email, '--list', '--json')
    const headers = { 'x-api-key': key }
    const asked = await fetch(`${server.url}/v1/account/me/keys`, { headers })
    // The server may not have written the last use yet.
    const keysIn = (text: string) =>
      JSON.parse(text).map((one: object) => ({ ...one, lastUsedAt: null }))
    assert.deepEqual(keysIn(asJson.stdout), keysIn(await asked.text()))
    const renewed = await makeKey('--email', email, '--renew', key.slice(0, 16))
    assert.deepEqual([renewed.code, renewed.stdout], [0, ''])
    assert.match(renewed.stderr, /^Renewed the key sk_live_\w{8} of revoked@.*: it expires 20\d\d-/)
    assert.equal((await locate()).status, 200)
    const revoked = await makeKey('--email', email, '--revoke', key.slice(0, 16))
    assert.deepEqual([revoked.code, revoked.stdout], [0, ''])
    assert.equal((await locate()).status, 401)
  })

  it('answers 200 to GET /health', () => untilHealthy(server))

  it('serves each path under one spelling, with or without a slash at its end, after resolving dots as URLs do', async () => {
    for (const path of ['//v1', '/v1//', '/v1//?', '/V1', '/%76%31//', '/v1%2f']) {
      assert.match(await rawRequest(server.url, path), /^HTTP\/1\.1 404 /, path)
    }
    for (const path of [
      '/v1',
      '/v1/',
      '/v1/?a=b',
      '/v1?a=/../b',
      '/v1/ip/../../v1',
      '/x/%2e%2e/v1',
      '/./v1',
    ]) {
      assert.match(await rawRequest(server.url, path), /^HTTP\/1\.1 200 /, path)
    }
    assert.match(await rawRequest(server.url, '/health/../v1/account/me'), /^HTTP\/1\.1 401 /)
  })

  it('refuses an endless body and continues to answer', async () => {
    const { stdout } = await makeKey(
      '--email',
      'body@example.com',
      '--name',
      'body',
      '--scopes',
      'all',
    )
    const body = new ReadableStream({
      pull: async (controller) => {
        // Lets fetch read the answer.
        await nextTurn()
        controller.enqueue(Buffer.alloc(4096, ' '))
      },
    })
    const post = (init: RequestInit) =>
      fetch(`${server.url}/v1/account/me/keys`, {
        method: 'POST',
        headers: { 'x-api-key': stdout.trim() },
        ...init,
      })
    const refused = await post({ body, duplex: 'half' })
    assert.equal(refused.status, 413)
    assert.equal((await post({ body: '{' })).status, 400)
  })

  it('answers HEAD with the headers of GET', async () => {
    const [got, head] = await Promise.all(
      ['GET', 'HEAD'].map((method) => fetch(`${server.url}/v1`, { method })),
    )
    assert.equal(await head?.text(), '')
    assert.equal(head?.headers.get('content-type'), got?.headers.get('content-type'))
  })

  it('survives requests that are not HTTP', async () => {
    for (const line of ['GET', 'x\u0000', '/%']) await rawRequest(server.url, line)
    assert.equal((await fetch(`${server.url}/v1`)).status, 200)
  })

  it('exits with code 0 at SIGTERM and writes its last log lines', async () => {
    await fetch(`${server.url}/v1/billing/plans`)
    const { code, stdout, stderr } = await server.stop('SIGTERM')
    assert.deepEqual([code, stderr], [0, ''])
    const lines = stdout
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    assert.equal(lines.filter(({ route }) => route === '/v1/billing/plans').length, 1)
    const last = lines.slice(-2).map(({ msg }) => msg)
    assert.deepEqual(last, ['stopping', 'stopped'])
  })
})

describe('a server that starts', () => {
  it('answers every request that it accepts', async () => {
    const own = newDataFolder()
    const port = await findFreePort()
    let isStarted = false
    const starting = startServer({ ...own.settings, PORT: String(port) }).finally(() => {
      isStarted = true
    })
    while (!isStarted) {
      // Refused until it listens.
      const page = { headers: { accept: 'text/html' } }
      const answer = await fetch(`http://127.0.0.1:${port}/nowhere`, page).catch(() => null)
      assert.ok([undefined, 404, 429].includes(answer?.status), `${answer?.status}`)
      await answer?.text()
      await sleep(5)
    }
    const { stderr } = await (await starting).stop('SIGTERM')
    own.remove()
    assert.equal(stderr, '')
  })
})

describe('a server that gets two signals at once', () => {
  it('stops as it does after one signal', async () => {
    const server = await startServer(settings)
    process.kill(server.pid, 'SIGTERM')
    process.kill(server.pid, 'SIGINT')
    const { code, stdout } = await server.stop('SIGTERM')
    assert.equal(code, 0)
    assert.match(stdout, /"msg":"stopped"/)
  })
})

describe('a server that cannot start', () => {
  const failure = async (extra: Record<string, string>) => {
    const { code, stderr } = await runScript(['server.ts'], { ...settings, PORT: '0', ...extra })
    assert.equal(code, 1)
    assert.match(stderr, /^[^\n]+\n$/, 'one line')
    return stderr
  }

  it('names every bad variable in one line', async () => {
    const line = await failure({ PORT: 'abc', MERIDIAN_TYPO: 'x' })
    assert.match(line, /unknown setting MERIDIAN_TYPO; PORT must be a port number .* got "abc"/)
  })

  it('reports that its port is in use', async () => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    // safe: it listens on a port
    const { port } = other.address() as AddressInfo
    const MERIDIAN_DATA_DIR = join(dataDir, 'none')
    const line = await failure({ PORT: String(port), MERIDIAN_DATA_DIR })
    assert.match(line, /EADDRINUSE; another program uses this port.*set PORT\n$/)
    assert.equal(existsSync(MERIDIAN_DATA_DIR), false, 'nothing was prepared before')
    other.close()
  })

  it('names the database that is not usable', async () => {
    const path = join(dataDir, 'bad.mmdb')
    writeFileSync(path, 'text')
    const line = await failure({ MERIDIAN_GEO: path })
    assert.match(line, /^Cannot use the database \S+bad\.mmdb: not a MaxMind DB: .*MERIDIAN_GEO/)
  })

  it('says that several processes need PostgreSQL', async () => {
    assert.equal(
      await failure({ MERIDIAN_NODES: '2' }),
      'Cannot read the configuration: MERIDIAN_NODES above 1 needs PostgreSQL: set MERIDIAN_DATABASE_URL, or unset MERIDIAN_NODES\n',
    )
  })

  it('reports the error in the plans', async () => {
    assert.match(await failure({ MERIDIAN_PLANS: '/nowhere.json' }), /\/nowhere\.json/)
  })
})

/** Sends the path exactly as written, which client libraries do not. */
function rawRequest(url: string, path: string): Promise<string> {
  return exchange(url, `GET ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`)
}
