import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { recordingLog } from '../support/helpers.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'

const log = recordingLog()
let key: string
const app = sharedScene({ log }, async () => {
  key = await ada.key()
})
const ada = app.user('ada')

const REVISION = 'io.modelcontextprotocol/protocolVersion'
const value = fc.jsonValue({ maxDepth: 3 })
const oneOf = (...usual: readonly unknown[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...usual) }, value)

const given = fc.record(
  {
    ipAddress: oneOf('81.2.69.160', 'me', '..', '\ud800', ''),
    fields: oneOf('location.city'),
    ips: oneOf(['8.8.8.8', 'x'], []),
    asn: oneOf('AS20712', 1),
    limit: oneOf(1, -1),
    domain: oneOf('app.example'),
    __proto__: value,
  },
  { requiredKeys: [] },
)
const params = fc.record(
  {
    name: oneOf('locateAddress', 'summarizeAddresses', 'getAutonomousSystem', 'getRumOverview'),
    arguments: fc.oneof({ weight: 4, arbitrary: given }, value),
    protocolVersion: oneOf('2025-06-18'),
    cursor: value,
    _meta: fc.oneof(fc.record({ [REVISION]: oneOf('2026-07-28', '2025-11-25') }), value),
  },
  { requiredKeys: ['name', 'arguments'] },
)
const message = fc.record(
  {
    jsonrpc: oneOf('2.0'),
    id: oneOf(1, 'a', null),
    method: oneOf('tools/call', 'tools/list', 'initialize', 'ping', 'subscriptions/listen'),
    params: fc.oneof({ weight: 4, arbitrary: params }, value),
    result: value,
    error: value,
  },
  { requiredKeys: ['jsonrpc'] },
)
const text = fc.oneof(
  { weight: 6, arbitrary: message.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: value.map((one) => JSON.stringify(one)) },
  { weight: 1, arbitrary: fc.string() },
  { weight: 1, arbitrary: fc.array(message, { maxLength: 3 }).map((some) => JSON.stringify(some)) },
)
const headers = fc.record(
  {
    'mcp-protocol-version': fc.constantFrom('2025-06-18', '2026-07-28', 'x'),
    'mcp-method': fc.constantFrom('tools/call', 'tools/list', 'x'),
    'mcp-name': fc.constantFrom('locateAddress', '=?base64?bG9jYXRlQWRkcmVzcw==?=', '=?base64?!?='),
    'mcp-session-id': fc.constant('x'),
    'last-event-id': fc.constant('1'),
    'content-type': fc.constantFrom('application/json; charset=utf-8', 'text/plain'),
  },
  { requiredKeys: [] },
)

describe('any body sent to /mcp', () => {
  it('is answered, in JSON and never with 5xx', async () => {
    await fc.assert(
      fc.asyncProperty(text, headers, fc.boolean(), async (body, given, hasKey) => {
        const request = new Request('http://127.0.0.1:8787/mcp', {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json, text/event-stream',
            ...(hasKey && { 'x-api-key': key }),
            ...given,
          },
          body,
        })
        const response = await app.app.fetch(request, { remoteAddress: freshClient() })
        const answered = await response.text()
        assert.ok(response.status < 500, `${response.status} ${answered}`)
        if (answered !== '') JSON.parse(answered)
        else assert.equal(response.status, 202)
      }),
      { numRuns: 300 },
    )
    const bugs = log.events.filter(({ level }) => level === 'error')
    assert.deepEqual(bugs, [])
  })
})
