import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { newDataFolder, type Running, runScript, startServer } from '../../support/process.ts'
import { openConnection, parseAnswer } from '../../support/raw-connection.ts'
import { type RunningProxy, readRecipe, readRecipes, startProxy } from './proxies.ts'

/* The recipes of docs/forward-auth.md with the real proxies. */

const LONDON = '81.2.69.160'
/** An address of this machine that is not trusted. */
const STRANGER = '127.0.0.7'
const { settings, remove } = newDataFolder()
after(remove)

/** The site behind the proxy: it answers with the headers that it gets. */
const site = createServer(({ headers }, response) => response.end(JSON.stringify(headers)))
let key = ''
let server: Running
before(async () => {
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  const args = [
    '--email',
    'ada@example.com',
    '--name',
    'proxy',
    '--scopes',
    'geo:read',
    '--plan',
    'pro',
  ]
  key = (await runScript(['scripts/key.ts', ...args], settings)).stdout.trim()
  server = await startServer({ ...settings, MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' })
})
after(async () => {
  site.close()
  await server.stop('SIGTERM')
})

/** In place of what a proxy says about the connection: on this machine, no visitor has a public address. */
const VISITOR = {
  nginx: ['$proxy_add_x_forwarded_for', '$http_x_visitor'],
  caddy: [
    'header_up X-API-Key',
    'header_up X-Forwarded-For {header.X-Visitor}\nheader_up X-API-Key',
  ],
} as const

interface Setting {
  readonly query?: string
  /** Whether the visitor may choose its address by X-Visitor. */
  readonly chooses?: boolean
  readonly key?: string
  readonly target?: string
  /** Adds to the recipe. */
  readonly extend?: (recipe: string) => string
}

function start(name: 'nginx' | 'caddy', setting: Setting = {}): Promise<RunningProxy> {
  const { query = 'deny=KP,IR', chooses = true, target = server.url } = setting
  const { port } = site.address() as AddressInfo
  const recipe = readRecipe(name, 'forward-auth.md')
  assert.ok(recipe.includes('deny=KP,IR') && recipe.includes('X-API-Key KEY'))
  const own = (setting.extend?.(recipe) ?? recipe)
    .replace('deny=KP,IR', query)
    .replace('X-API-Key KEY', `X-API-Key ${setting.key ?? key}`)
    .replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`)
  const [said, chosen] = VISITOR[name]
  return startProxy(name, chooses ? own.replace(said, chosen) : own, target)
}

async function visit({ url }: RunningProxy, headers: Record<string, string>, init?: RequestInit) {
  const answer = await fetch(`${url}/some/page?a=b&deny=x`, { ...init, headers })
  const text = await answer.text()
  const got: IncomingHttpHeaders = answer.status === 200 ? JSON.parse(text) : {}
  const geo = Object.entries(got).filter(
    ([name, value]) => name.startsWith('x-geo-') && !isPlaceholder(value),
  )
  return { status: answer.status, geo: Object.fromEntries(geo), got }
}

/** What Caddy before 2.9, as Debian has it, copies in place of an absent header (caddyserver/caddy#6610). */
function isPlaceholder(value: string | string[] | undefined): boolean {
  return /^\{http\.reverse_proxy\.header\.X-Geo-\w+\}$/.test(String(value))
}

/** What a visitor sends to seem to be somewhere else. */
const FORGED = {
  'X-Geo-Country': 'US',
  'X-Geo-City': 'Forged',
  'X-Geo-Timezone': 'Forged',
  'X-API-Key': 'x',
  Authorization: 'Bearer x',
  'Content-Encoding': 'gzip',
}

for (const name of ['nginx', 'caddy'] as const) {
  describe(`${name} that asks about its visitors`, () => {
    let proxy: RunningProxy
    const withProxy = async (setting: Setting, use: () => Promise<void>) => {
      proxy = await start(name, setting)
      try {
        await use()
      } finally {
        await proxy.stop()
      }
    }

    it('passes on where they are, and nothing that they have sent', () =>
      withProxy({}, async () => {
        for (const init of [{}, { method: 'POST', body: 'x'.repeat(50_000) }]) {
          const { status, geo, got } = await visit(proxy, { ...FORGED, 'X-Visitor': LONDON }, init)
          assert.equal(status, 200)
          assert.deepEqual(geo, {
            'x-geo-country': 'GB',
            'x-geo-region': 'GB-ENG',
            'x-geo-city': 'London',
            'x-geo-asn': 'AS20712',
            'x-geo-timezone': 'Europe/London',
          })
          assert.notEqual(got['x-api-key'], key)
        }
        const { status, geo } = await visit(proxy, { ...FORGED, 'X-Visitor': '17.0.0.1' })
        assert.deepEqual([status, geo], [200, { 'x-geo-country': 'US' }])
      }))

    it('refuses those of the list', () =>
      withProxy({ query: 'deny=GB' }, async () => {
        assert.equal((await visit(proxy, { 'X-Visitor': LONDON })).status, 403)
        assert.equal((await visit(proxy, { 'X-Visitor': '17.0.0.1' })).status, 200)
      }))

    it('lets in the countries of the other list, and private networks', () =>
      withProxy({ query: 'allow=GB' }, async () => {
        assert.equal((await visit(proxy, { 'X-Visitor': LONDON })).status, 200)
        assert.equal((await visit(proxy, { 'X-Visitor': '17.0.0.1' })).status, 403)
        assert.equal((await visit(proxy, { 'X-Visitor': '192.168.1.1' })).status, 200)
      }))

    it('believes nobody about their address', () =>
      withProxy({ query: 'deny=GB', chooses: false }, async () => {
        const { socket, ended } = await openConnection(proxy.url, STRANGER)
        const forged = { ...FORGED, 'X-Forwarded-For': LONDON, 'X-Real-IP': LONDON }
        const lines = Object.entries(forged).map((header) => `${header.join(': ')}\r\n`)
        socket.write(`GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines.join('')}\r\n`)
        const { status, body } = parseAnswer(await ended)
        assert.equal(status, 200)
        assert.doesNotMatch(body, /x-geo-/i)
      }))

    it('lets nobody in with a wrong key, a wrong list, or while nobody answers', async () => {
      const statuses = { nginx: [401, 500, 500], caddy: [401, 400, 502] }[name]
      const settings: Setting[] = [{ key: 'wrong' }, { query: 'deny=XX' }]
      const closed = { target: 'http://127.0.0.1:9' }
      for (const [at, setting] of [...settings, closed].entries()) {
        await withProxy(setting, async () => {
          assert.equal((await visit(proxy, { 'X-Visitor': LONDON })).status, statuses[at])
        })
      }
    })
  })
}

describe('nginx that lets visitors in while nobody answers', () => {
  const extend = (recipe: string) => {
    const [, more = ''] = readRecipes('nginx', 'forward-auth.md')
    const [inLocation = '', inServer = ''] = more.split('# in the server:\n')
    return recipe.replace('internal;', `internal;\n${inLocation}`) + inServer
  }

  for (const [name, setting, status] of [
    ['lets in without headers', { target: 'http://127.0.0.1:9' }, 200],
    ['still refuses', { query: 'deny=GB' }, 403],
    ['still needs a key', { key: 'wrong' }, 401],
  ] as const) {
    it(name, async () => {
      const proxy = await start('nginx', { ...setting, extend })
      try {
        const got = await visit(proxy, { ...FORGED, 'X-Visitor': LONDON })
        assert.deepEqual([got.status, got.geo], [status, {}])
      } finally {
        await proxy.stop()
      }
    })
  }
})
