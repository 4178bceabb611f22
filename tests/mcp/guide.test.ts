import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { sharedScene } from '../support/scene/scene.ts'
import { freshClient } from '../support/scene/send.ts'

const app = sharedScene()

async function load(path: string): Promise<string> {
  const request = new Request(`http://127.0.0.1:8787${path}`)
  return (await app.app.fetch(request, { remoteAddress: freshClient() })).text()
}

describe('the guide for assistants', () => {
  it('has every tool, and settings with the address of this service', async () => {
    const text = await load('/docs/guides/assistants.md')
    for (const { row, about } of TOOLS) {
      assert.ok(
        text.includes(`[${row.id}](http://127.0.0.1:8787/docs/operations/${row.id}.md) | ${about}`),
      )
    }
    const [http, stdio] = [...text.matchAll(/^```\n(\{.*?\n\})\n```$/gms)].map(([, code = '']) =>
      JSON.parse(code),
    )
    assert.equal(http.mcpServers.meridian.url, 'http://127.0.0.1:8787/mcp')
    assert.equal(stdio.mcpServers.meridian.env.MERIDIAN_URL, 'http://127.0.0.1:8787')
  })

  it('is listed in /llms.txt, with the address', async () => {
    const text = await load('/llms.txt')
    assert.match(text, /at http:\/\/127\.0\.0\.1:8787\/mcp\./)
    assert.match(text, /\[Assistants \(MCP\)\]/)
  })
})
