import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import {
  addKey,
  newDataFolder,
  type Running,
  runScript,
  startServer,
} from '../../support/process.ts'
import { openConnection, parseAnswer } from '../../support/raw-connection.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { type RunningProxy, readRecipe, readRecipes, startProxy } from './proxies.ts'

/* The recipes of docs/forward-auth.md with the real proxies. */

const LONDON = '81.2.69.160'
/** An address of this machine that is not trusted. */
const STRANGER = '127.0.0.7'
const { settings, remove } = newDataFolder()
after(remove)

/**
 * The site behind the proxy: it answers with the headers that it gets, once it has read the body. An
 * answer before that closes the connection with bytes unread: a reset (RFC 2525, section 2.17) that
 * may reach the proxy before the answer does.
 */
const site = createServer((request, response) => {
  request.resume().on('end', () => response.end(JSON.stringify(request.headers)))
})
let key = ''
/** A key of a plan with 10 requests a minute. */
let freeKey = ''
let server: Running
before(async () => {
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  const page = readFileSync(new URL('../../../docs/forward-auth.md', import.meta.url), 'utf8')
  const [, args = ''] = /`npm run --silent key -- ([^`]+)`/.exec(page) ?? []
  key = (await runScript(['scripts/key.ts', ...args.split(' ')], settings)).stdout.trim()
  freeKey = await addKey(settings, 'free@example.com', '--plan', 'free')
  server = await startServer({ ...settings, MERIDIAN_TRUSTED_PROXIES: '127.0.0.1' })
})
after(async () => {
  site.close()
  await server.stop('SIGTERM')
})

/** In place of what a proxy says about the connection: on this machine, no visitor has a public address. */
const VISITOR = {
  nginx: ['$remote_addr', '$http_x_visitor'],
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
    .replace('/var/cache/nginx/geo', join(tempFolder(), 'geo'))
  const [said, chosen] = VISITOR[name]
  return startProxy(name, chooses ? own.replaceAll(said, chosen) : own, target)
}

async function visit({ url }: RunningProxy, headers: Record<string, string>, init?: RequestInit) {
  const answer = await fetch(`${url}/some/page?a=b&deny=x`, { ...init, headers })
  const text = await answer.text()
  const got: IncomingHttpHeaders = answer.status === 200 ? JSON.parse(text) : {}
  const geo = Object.entries(got).filter(
    ([name, value]) => /^x[-_]geo[-_]/.test(name) && !isPlaceholder(value),
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
  X_Geo_Country: 'US',
  'X-Geo_Region': 'US-CA',
  'x_geo-city': 'Forged',
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

    it('does not let a visitor remove the headers by Connection', () =>
      withProxy({}, async () => {
        for (const option of ['X-Geo-Country', 'x-geo-country, X-Geo-ASN', 'close,x-geo-country']) {
          const { socket, ended } = await openConnection(proxy.url)
          const head = `GET / HTTP/1.1\r\nHost: ${new URL(proxy.url).host}\r\nX-Visitor: ${LONDON}\r\n`
          socket.write(`${head}Connection: close\r\nConnection: ${option}\r\n\r\n`)
          const { body } = parseAnswer(await ended)
          assert.match(body, /"x-geo-country":"GB"/, option)
        }
      }))

    it('lets nobody in about whom it does not ask', () =>
      withProxy({ query: 'allow=GB' }, async () => {
        const answer = await visit(proxy, { 'X-Visitor': 'unknown' })
        assert.equal(answer.status, { nginx: 500, caddy: 400 }[name])
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
        const head = `GET / HTTP/1.1\r\nHost: ${new URL(proxy.url).host}\r\nConnection: close\r\n`
        socket.write(`${head}${lines.join('')}\r\n`)
        const { status, body } = parseAnswer(await ended)
        assert.equal(status, 200)
        assert.match(body, /"x-forwarded-for"|"x-real-ip"/)
        assert.doesNotMatch(body, /"x[-_]geo[-_][\w-]+":"(?!\{http)/)
      }))

    it('does not send cookies and logins to Meridian', async () => {
      const asked = createServer(({ headers }, response) => {
        const isPrivate = headers.cookie !== undefined || headers.authorization !== undefined
        response.writeHead(isPrivate ? 403 : 204).end()
      })
      asked.listen(0, '127.0.0.1')
      await once(asked, 'listening')
      const { port } = asked.address() as AddressInfo
      await withProxy({ target: `http://127.0.0.1:${port}` }, async () => {
        const own = { Cookie: 'a=b', Authorization: 'Bearer x' }
        const { status, got } = await visit(proxy, { ...own, 'X-Visitor': LONDON })
        assert.deepEqual([status, got.cookie, got.authorization], [200, 'a=b', 'Bearer x'])
      })
      asked.closeAllConnections()
      asked.close()
    })

    it('lets nobody in with a key without geo:read', async () => {
      const scoped = await addKey(settings, 'ada@example.com', '--scopes', 'account:read')
      await withProxy({ key: scoped }, async () => {
        assert.equal((await visit(proxy, { 'X-Visitor': LONDON })).status, 403)
      })
    })

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

/** More requests than a minute of the free plan has. */
const MANY = Array.from({ length: 15 }, (_, at) => at + 1)

describe('nginx with a key of few requests', () => {
  it('asks once about each visitor, so that none uses up the requests of others', async () => {
    const proxy = await start('nginx', { query: 'deny=GB', key: freeKey })
    try {
      for (const _ of MANY) assert.equal((await visit(proxy, { 'X-Visitor': LONDON })).status, 403)
      const { status, geo } = await visit(proxy, { 'X-Visitor': '17.0.0.1' })
      assert.deepEqual([status, geo], [200, { 'x-geo-country': 'US' }])
    } finally {
      await proxy.stop()
    }
  })
})

describe('nginx that lets visitors in while nobody answers', () => {
  const extend = (recipe: string) => {
    const [, more = ''] = readRecipes('nginx', 'forward-auth.md')
    const [inLocation = '', inServer = ''] = more.split('# in the server:\n')
    return recipe.replace('internal;', `internal;\n${inLocation}`) + inServer
  }

  it('lets none in once the requests of the minute are used up', async () => {
    const few = await addKey(settings, 'few@example.com', '--plan', 'free')
    const proxy = await start('nginx', { query: 'deny=GB', key: few, extend })
    try {
      for (const at of MANY) {
        const { status } = await visit(proxy, { 'X-Visitor': `2a00:1450:4009::${at}` })
        assert.equal(status, at <= 10 ? 403 : 500)
      }
    } finally {
      await proxy.stop()
    }
  })

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
