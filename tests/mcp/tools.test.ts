import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ProtocolError, SdkHttpError } from '@modelcontextprotocol/client'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { findErrors } from '../openapi/json-schema.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { words } from '../support/words.ts'
import { ask, askInVain, connectTo, ERAS } from './assistant.ts'

/** Arguments of each tool, and the same request of the API. */
const CALLS = [
  {
    name: 'locateAddress',
    given: { ipAddress: '81.2.69.160', include: 'network', lang: 'de' },
    path: '/v1/ip/81.2.69.160?include=network&lang=de',
  },
  {
    name: 'summarizeAddresses',
    given: { ips: ['81.2.69.160', '10.0.0.1', 'nowhere'], top: 5 },
    path: '/v1/ip/summary',
    body: { ips: ['81.2.69.160', '10.0.0.1', 'nowhere'], top: 5 },
  },
  {
    name: 'getAutonomousSystem',
    given: { asn: 'AS20712', family: '4', limit: 10 },
    path: '/v1/asn/AS20712?family=4&limit=10',
  },
  { name: 'getUsage', given: {}, path: '/v1/account/me/usage' },
  {
    name: 'getRumOverview',
    given: { domain: 'app.example', series: 'day' },
    path: '/v1/telemetry/rum/overview?domain=app.example&series=day',
  },
]

let key: string
const app = sharedScene({}, async () => {
  key = await app.makeKey()
  await app.send('POST', '/v1/account/me/sites', { key, body: { name: 'https://app.example' } })
})

const bearer = (text: string) => ({ authorization: `Bearer ${text}` })

/** As JSON, without what differs between two requests. */
function steady(body: unknown): string {
  return JSON.stringify(body)
    .replaceAll(/"requestId":"[^"]*"/g, '"requestId":""')
    .replaceAll(/"rateLimitRemaining":\d+/g, '"rateLimitRemaining":0')
}

for (const era of ERAS) {
  describe(`the tools, for a client of the era ${era}`, () => {
    it('are listed without a key', async () => {
      await using client = await connectTo(app, {}, era)
      const { tools } = await client.listTools()
      const names = tools.map(({ name }) => name)
      assert.deepEqual(
        names,
        CALLS.map((call) => call.name),
      )
    })

    it('answer what the API answers', async () => {
      await using client = await connectTo(app, { 'x-api-key': key }, era)
      for (const { name, given, path, body } of CALLS) {
        const asked = await ask(client, name, given)
        const sent = await app.send(body === undefined ? 'GET' : 'POST', path, { key, body })
        assert.equal(sent.status, 200)
        assert.equal(steady(asked), steady(sent.body), name)
      }
    })

    it('need a key, and say so as the API does', async () => {
      await using client = await connectTo(app, {}, era)
      for (const { name, given } of CALLS) {
        await assert.rejects(
          client.callTool({ name, arguments: given }),
          (error) => error instanceof SdkHttpError && error.status === 401,
        )
      }
    })
  })
}

describe('a tool', () => {
  it('accepts the example of its operation by its schema, and refuses other arguments', async () => {
    await using client = await connectTo(app)
    const { tools } = await client.listTools()
    for (const { name, inputSchema } of tools) {
      const row = TOOLS.find((tool) => tool.row.id === name)?.row
      const params = Object.entries(row?.params ?? {})
      const given = {
        ...Object.fromEntries(params.map(([at, { example }]) => [at, example])),
        ...(name === 'getRumOverview' && { domain: 'shop.example' }),
        ...Object(row?.body?.example),
      }
      const errorsOf = findErrors(inputSchema)
      assert.deepEqual(errorsOf(given), [], name)
      assert.notDeepEqual(errorsOf({ ...given, misspelt: 1 }), [], name)
    }
  })

  it('takes fields and includes as lists, or as a query has them', async () => {
    await using client = await connectTo(app, bearer(key))
    const { tools } = await client.listTools()
    const schema = tools.find(({ name }) => name === 'locateAddress')?.inputSchema ?? {}
    assert.doesNotMatch(JSON.stringify(schema), /pattern/)
    const errorsOf = findErrors(schema)
    const address = { ipAddress: '81.2.69.160' }
    for (const given of [{ fields: ['location.city', 'network.asn'] }, { include: ['network'] }]) {
      assert.deepEqual(errorsOf({ ...address, ...given }), [])
      const [list] = Object.values(given)
      const [name = ''] = Object.keys(given)
      const asText = { ...address, [name]: list?.join(',') }
      const answers = [{ ...address, ...given }, asText].map((one) =>
        ask(client, 'locateAddress', one),
      )
      const [one, other] = (await Promise.all(answers)).map((answer) => steady(answer))
      assert.equal(one, other)
    }
    assert.notDeepEqual(errorsOf({ ...address, fields: ['nothing'] }), [])
  })

  it('takes a key as bearer token', async () => {
    await using client = await connectTo(app, bearer(key))
    const given = { ipAddress: '81.2.69.160', fields: 'location.city' }
    const { location } = await ask(client, 'locateAddress', given)
    assert.deepEqual(location, { city: 'London' })
  })

  it('answers for an address that no database knows', async () => {
    await using client = await connectTo(app, bearer(key))
    const { query, location } = await ask(client, 'locateAddress', { ipAddress: '10.0.0.1' })
    assert.deepEqual(query, { type: 'ip', value: '10.0.0.1', ipVersion: 4 })
    assert.equal(location, undefined)
  })

  it('refuses bad input with the code and the message of the API', async () => {
    await using client = await connectTo(app, bearer(key))
    const given = { ipAddress: '81.2.69.160', lang: 'xx' }
    const refusal = await askInVain(client, 'locateAddress', given)
    const { body } = await app.send('GET', '/v1/ip/81.2.69.160?lang=xx', { key })
    const { documentation, ...error } = Object(body).error
    assert.match(documentation, /\/docs\/operations\/locateAddress$/)
    assert.deepEqual(error, refusal)
    const failures = [
      ['locateAddress', {}, 'ipAddress: is missing'],
      ['locateAddress', { ipAddress: '1.2.3.4', language: 'de' }, /language/],
      ['locateAddress', { ipAddress: 'nowhere' }, /address/],
      ['summarizeAddresses', { ips: [] }, /at least 1/],
      ['summarizeAddresses', { ips: '1.2.3.4' }, /list/],
      ['getAutonomousSystem', { asn: 'AS1', limit: 'many' }, /limit/],
      ['getRumOverview', { domain: 'app.example', from: 'yesterday' }, /from/],
    ] as const
    for (const [name, args, expected] of failures) {
      const error = await askInVain(client, name, args)
      assert.equal(error.code, 'BAD_REQUEST', name)
      if (typeof expected === 'string') assert.equal(error.message, expected)
      else assert.match(error.message, expected)
    }
  })

  it('reaches no other operation, whatever the address says', async () => {
    await using client = await connectTo(app, bearer(key))
    for (const ipAddress of [...words('me batch . .. ../account/me %2e%2e a?b'), '\ud800']) {
      const { code } = await askInVain(client, 'locateAddress', { ipAddress })
      assert.equal(code, 'BAD_REQUEST', ipAddress)
    }
  })

  it('needs the scope of its operation', async () => {
    const reader = await app.makeKey({ scopes: ['geo:read'] })
    await using client = await connectTo(app, bearer(reader))
    await ask(client, 'locateAddress', { ipAddress: '81.2.69.160' })
    for (const { name, given } of CALLS.slice(3)) {
      const { code, message } = await askInVain(client, name, given)
      assert.equal(code, 'INSUFFICIENT_SCOPE')
      assert.match(message, /account:read/)
    }
  })

  it('refuses a publishable key without an allowed origin', async () => {
    const origins = ['https://shop.example']
    const publishable = await app.makeKey({ type: 'publishable', origins })
    await using client = await connectTo(app, bearer(publishable))
    const { code } = await askInVain(client, 'locateAddress', { ipAddress: '81.2.69.160' })
    assert.equal(code, 'ORIGIN_NOT_ALLOWED')
  })

  it('shows no site of another user', async () => {
    const other = await app.makeKey({ email: 'eve@example.com' })
    await using client = await connectTo(app, bearer(other))
    const { code } = await askInVain(client, 'getRumOverview', { domain: 'app.example' })
    assert.equal(code, 'NOT_FOUND')
    const { totalRequests } = await ask(client, 'getUsage', {})
    assert.equal(totalRequests, 0)
  })

  it('counts towards the limit and the cap of the key like the request of the API', async () => {
    const email = 'grace@example.com'
    const free = await app.makeKey({ email, plan: 'free' })
    await using client = await connectTo(app, bearer(free))
    for (let n = 0; n < 5; n += 1) {
      await ask(client, 'locateAddress', { ipAddress: '81.2.69.160' })
      await app.send('GET', '/v1/ip/81.2.69.160', { key: free })
    }
    const { code, message } = await askInVain(client, 'locateAddress', { ipAddress: '8.8.8.8' })
    assert.equal(code, 'RATE_LIMITED')
    assert.match(message, /try again in \d+ s/)
    const { totalRequests } = await ask(client, 'getUsage', {})
    assert.equal(totalRequests, 10)
  })

  it('that does not exist is an error of the protocol', async () => {
    await using client = await connectTo(app, bearer(key))
    await assert.rejects(
      client.callTool({ name: 'deleteEverything', arguments: {} }),
      (error) => error instanceof ProtocolError && error.code === -32_602,
    )
  })
})
