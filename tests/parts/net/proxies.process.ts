import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import * as v from 'valibot'
import { GeolocationResult } from '../../../lib/contract/geo/geolocation.ts'
import { newDataFolder, type Running, runScript, startServer } from '../../support/process.ts'
import { openConnection, parseAnswer } from '../../support/raw-connection.ts'
import { type RunningProxy, readRecipe, startProxy } from './proxies.ts'

/* The recipes of docs/operations.md with the real proxies, and requests as a stranger forges them. */

/** The proxy connects from here; it is trusted. */
const PROXY = '127.0.0.1'
const STRANGER = '127.0.0.7'
const SOMEBODY = '81.2.69.160'

const { settings, remove } = newDataFolder()
let key: string
before(async () => {
  const args = [
    'scripts/key.ts',
    '--email',
    'ada@example.com',
    '--name',
    'proxies',
    '--plan',
    'pro',
  ]
  key = (await runScript(args, settings)).stdout.trim()
})
after(remove)

/** Headers with which a stranger tries to be somebody else. */
const forged = [
  '',
  ...[SOMEBODY, PROXY, `${SOMEBODY}, ${PROXY}`, `[::1]:80, ${SOMEBODY}:9`, 'x', ' ,', '::'].map(
    (value) => `X-Forwarded-For: ${value}\r\n`,
  ),
  `X-Forwarded-For: ${PROXY}\r\nX-Forwarded-For: ${SOMEBODY}\r\n`,
  ...['Fly-Client-IP', 'CF-Connecting-IP', 'X-Real-IP', 'X-Client-IP', 'X-Forwarded-for'].map(
    (name) => `${name}: ${SOMEBODY}\r\n`,
  ),
  `Forwarded: for=${SOMEBODY}\r\n`,
  `Connection: close, X-Forwarded-For\r\nX-Forwarded-For: ${SOMEBODY}\r\n`,
]

/** Asks through the proxy which address the service sees. */
async function clientSeen({ url }: RunningProxy, headers: string): Promise<string | undefined> {
  const { socket, ended } = await openConnection(url, STRANGER)
  const close = headers.includes('Connection') ? '' : 'Connection: close\r\n'
  const host = new URL(url).host
  const head = `GET /v1/ip/me HTTP/1.1\r\nHost: ${host}\r\nX-API-Key: ${key}\r\n${headers}${close}`
  socket.write(`${head}\r\n`)
  const { body } = parseAnswer(await ended)
  return v.parse(GeolocationResult, JSON.parse(body)).query?.value
}

async function assertSeesStranger(proxy: RunningProxy): Promise<void> {
  for (const headers of forged) {
    assert.equal(await clientSeen(proxy, headers), STRANGER, JSON.stringify(headers))
  }
}

describe('behind a proxy, the client is the address that connects to it, whatever that claims', () => {
  let server: Running
  before(async () => {
    server = await startServer({ ...settings, MERIDIAN_TRUSTED_PROXIES: PROXY })
  })
  after(() => server.stop('SIGTERM'))

  for (const name of ['nginx', 'caddy', 'haproxy'] as const) {
    it(name, async () => {
      const proxy = await startProxy(name, readRecipe(name), server.url)
      try {
        await assertSeesStranger(proxy)
      } finally {
        await proxy.stop()
      }
    })
  }

  it('and the health checks of HAProxy, in HTTP/1.0 without Host, succeed', async () => {
    const checks = () => server.output().match(/^.*"\/health\/ready".*\n/gm) ?? []
    const before = checks().length
    const proxy = await startProxy('haproxy', readRecipe('haproxy'), server.url)
    try {
      while (checks().length < before + 2) await new Promise((resolve) => setTimeout(resolve, 50))
      for (const line of checks()) assert.match(line, /"status":200/)
    } finally {
      await proxy.stop()
    }
  })
})

describe('behind a proxy with a header of its own', () => {
  const fly = readFileSync(new URL('../../../deploy/fly.toml', import.meta.url), 'utf8')
  const [, header = ''] = /^MERIDIAN_CLIENT_HEADER = '(.*)'$/m.exec(fly) ?? []

  it('the client is the address that connects to it, as on Fly', async () => {
    const env = { MERIDIAN_TRUSTED_PROXIES: PROXY, MERIDIAN_CLIENT_HEADER: header }
    const server = await startServer({ ...settings, ...env })
    // Fly adds the app's own address at the end.
    const recipe = readRecipe('nginx').replace(
      '$proxy_add_x_forwarded_for;',
      `"$proxy_add_x_forwarded_for, 66.241.124.230"; proxy_set_header ${header} $remote_addr;`,
    )
    const proxy = await startProxy('nginx', recipe, server.url)
    try {
      await assertSeesStranger(proxy)
    } finally {
      await proxy.stop()
      await server.stop('SIGTERM')
    }
  })
})
