import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { runScript } from '../support/process.ts'
import { RUNTIME } from '../support/runtime.ts'
import { sharedServer } from '../support/scene/server.ts'
import { ask, askInVain, connect, ERAS, httpTransport } from './assistant.ts'

let key: string
const { server, settings, addKey } = sharedServer({}, async () => {
  key = await addKey(undefined, '--scopes', 'all')
})

type Settings = Readonly<Record<string, string>>

/** Starts `npm run mcp` as an assistant does. */
function stdioTransport(settings: Settings) {
  const [command, ...options] = RUNTIME
  const { PATH = '', HOME = '' } = process.env
  const args = [...options, 'scripts/mcp.ts']
  const env = { PATH, HOME, ...settings }
  return new StdioClientTransport({ command, args, env, stderr: 'pipe' })
}

const GIVEN = { ipAddress: '81.2.69.160', fields: 'location.city,network.asn' }
const ANSWER = { location: { city: 'London' }, network: { asn: 'AS20712' } }
const LIST = { ips: ['81.2.69.160', 'nowhere'] }

for (const era of ERAS) {
  describe(`an assistant of the era ${era}`, () => {
    it('uses the tools over HTTP', async () => {
      await using client = await connect(httpTransport(server.url, { 'x-api-key': key }), era)
      assert.equal((await client.listTools()).tools.length, 5)
      assert.deepEqual(await ask(client, 'locateAddress', GIVEN), ANSWER)
    })

    it('uses the tools over stdio, with a server', async () => {
      const settings = { MERIDIAN_URL: server.url, MERIDIAN_KEY: key }
      await using client = await connect(stdioTransport(settings), era)
      assert.equal((await client.listTools()).tools.length, 5)
      assert.deepEqual(await ask(client, 'locateAddress', GIVEN), ANSWER)
      const { addresses } = await ask(client, 'summarizeAddresses', LIST)
      assert.deepEqual(addresses, { total: 2, distinct: 1, invalid: 1 })
      assert.equal((await ask(client, 'getUsage', {}))['totalKeys'], 1)
      const { code } = await askInVain(client, 'getRumOverview', { domain: 'app.example' })
      assert.equal(code, 'NOT_FOUND')
    })

    it('uses the tools over stdio, without a server', async () => {
      await using client = await connect(stdioTransport(settings), era)
      const { tools } = await client.listTools()
      assert.deepEqual(
        tools.map(({ name }) => name),
        ['locateAddress', 'summarizeAddresses', 'getAutonomousSystem'],
      )
      assert.deepEqual(await ask(client, 'locateAddress', GIVEN), ANSWER)
      const { location } = await ask(client, 'locateAddress', { ipAddress: '10.0.0.1' })
      assert.equal(location, undefined)
      const { addresses } = await ask(client, 'summarizeAddresses', LIST)
      assert.deepEqual(addresses, { total: 2, distinct: 1, invalid: 1 })
      const { asn } = await ask(client, 'getAutonomousSystem', { asn: '20712' })
      assert.equal(asn, 'AS20712')
      for (const given of [{ ipAddress: 'nowhere' }, { ipAddress: '8.8.8.8', lang: 'xx' }]) {
        const { code } = await askInVain(client, 'locateAddress', given)
        assert.equal(code, 'BAD_REQUEST')
      }
      const { code } = await askInVain(client, 'getAutonomousSystem', { asn: 'AS64496' })
      assert.equal(code, 'NOT_FOUND')
    })
  })
}

describe('npm run mcp', () => {
  it('says what a server refuses, and what it cannot reach', async () => {
    const reader = await addKey('eve@example.com', '--scopes', 'geo:read')
    const refused = [
      [{ MERIDIAN_URL: server.url, MERIDIAN_KEY: reader }, 'INSUFFICIENT_SCOPE'],
      [{ MERIDIAN_URL: server.url, MERIDIAN_KEY: 'nonsense' }, 'UNAUTHORIZED'],
      [{ MERIDIAN_URL: 'http://127.0.0.1:1', MERIDIAN_KEY: reader }, 'SERVICE_UNAVAILABLE'],
    ] as const
    for (const [settings, expected] of refused) {
      await using client = await connect(stdioTransport(settings))
      const { code, message } = await askInVain(client, 'getUsage', {})
      assert.equal(code, expected)
      assert.ok(!message.includes(reader))
    }
  })

  it('ends with stdin, and writes nothing but messages to stdout', async () => {
    const [program, ...options] = RUNTIME
    const env = { ...process.env, ...settings }
    const child = spawn(program, [...options, 'scripts/mcp.ts'], { env })
    child.stdin.end()
    assert.equal(await text(child.stdout), '')
    assert.equal(child.exitCode ?? (await once(child, 'close'))[0], 0)
  })

  it('refuses half a server', async () => {
    const refused = [
      [{ MERIDIAN_KEY: key }, /MERIDIAN_URL/],
      [{ MERIDIAN_URL: server.url }, /MERIDIAN_KEY/],
      [{ MERIDIAN_URL: 'geo.example', MERIDIAN_KEY: key }, /https:\/\/geo\.example/],
      [{ MERIDIAN_URL: 'http://a:b@geo.example', MERIDIAN_KEY: key }, /https:\/\/geo\.example/],
    ] as const
    for (const [settings, expected] of refused) {
      const { code, stdout, stderr } = await runScript(['scripts/mcp.ts'], settings)
      assert.deepEqual({ code, stdout }, { code: 2, stdout: '' })
      assert.match(stderr, expected)
      assert.ok(!stderr.includes(key))
    }
  })
})
