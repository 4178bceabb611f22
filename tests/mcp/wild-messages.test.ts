import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'

let key = ''
const app = sharedScene({}, async () => {
  key = await app.user('ada').key()
})

describe('a client of the Model Context Protocol', () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call' }
  const params = { name: 'locateAddress', arguments: { ipAddress: '81.2.69.160' } }
  const ask = async (message: object, headers: Record<string, string>) => {
    const request = new Request('http://127.0.0.1:8787/mcp', {
      method: 'POST',
      body: JSON.stringify(message),
      headers: { 'x-api-key': key, 'content-type': 'application/json', ...headers },
    })
    const answer = await app.app.fetch(request, { remoteAddress: freshClient() })
    return { status: answer.status, body: JSON.parse(await answer.text()) }
  }
  const accepts = [
    '',
    ', application/json',
    'application/json',
    'text/event-stream',
    '*/*',
    'application/json;q=0.9',
  ]
  for (const accept of accepts) {
    it(`may accept only ${accept}`, async () => {
      const { status, body } = await ask({ ...call, params }, { accept })
      assert.equal(status, 200)
      assert.equal(body.result.structuredContent.location.city, 'London')
    })
  }

  it('may name the revision that no header means', async () => {
    const headers = { accept: 'application/json', 'mcp-protocol-version': '2025-03-26' }
    assert.equal((await ask({ ...call, params }, headers)).status, 200)
  })

  it('gets names in the language of its header if it asks so', async () => {
    const asked = { ...params, arguments: { ...params.arguments, lang: 'auto' } }
    for (const [language, country] of [
      ['de', 'Vereinigtes Königreich'],
      ['de-AT;q=0.9, en', 'United Kingdom'],
    ] as const) {
      const headers = { accept: 'application/json', 'accept-language': language }
      const { body } = await ask({ ...call, params: asked }, headers)
      assert.equal(body.result.structuredContent.location.country.name, country)
    }
  })

  // JSON-RPC 2.0, section 4: params may be omitted; clients of typed languages send null, PHP's send []
  const nothings = [
    { method: 'tools/list', params: null },
    { method: 'tools/list', params: [] },
    { method: 'tools/list', params: { cursor: null } },
    { method: 'tools/list', params: { _meta: null } },
    { method: 'tools/call', params: { name: 'getUsage', arguments: null } },
    { method: 'tools/call', params: { name: 'getUsage', arguments: [] } },
    { method: 'tools/call', params: { ...params, _meta: null } },
    {
      method: 'tools/call',
      params: { ...params, arguments: { ...params.arguments, lang: null, fields: null } },
    },
  ]
  for (const nothing of nothings) {
    it(`may write ${JSON.stringify(nothing)}`, async () => {
      const { status, body } = await ask({ ...call, ...nothing }, { accept: 'application/json' })
      assert.equal(status, 200)
      assert.ok(body.result && body.result.isError !== true, JSON.stringify(body).slice(0, 200))
    })
  }

  it('may write null for no arguments', async () => {
    const none = { ...call, params: { name: 'locateAddress', arguments: null } }
    const { status, body } = await ask(none, { accept: 'application/json' })
    assert.equal(status, 200)
    assert.match(body.result.content[0].text, /^BAD_REQUEST: ipAddress/)
  })
})
