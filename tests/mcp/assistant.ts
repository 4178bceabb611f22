import assert from 'node:assert/strict'
import {
  Client,
  type FetchLike,
  StreamableHTTPClientTransport,
  type Transport,
} from '@modelcontextprotocol/client'
import * as v from 'valibot'
import type { TestApp } from '../support/helpers.ts'
import { freshClient } from '../support/scene/send.ts'

/** Clients of before the revision 2026-07-28 begin with a handshake, later ones do not. */
export const ERAS = ['legacy', 'auto'] as const
export type Era = (typeof ERAS)[number]

/** The official client, connected until it is disposed of. */
export async function connect(transport: Transport, era: Era = 'auto') {
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode: era } },
  )
  await client.connect(transport)
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

type Headers = Readonly<Record<string, string>>

/** The official client, connected to the router, from a new address at each request. */
export function connectTo({ app }: Pick<TestApp, 'app'>, headers: Headers = {}, era?: Era) {
  const fetch: FetchLike = async (url, init) =>
    app.fetch(new Request(url, init), { remoteAddress: freshClient() })
  return connect(httpTransport('http://127.0.0.1:8787', headers, fetch), era)
}

export function httpTransport(url: string, headers: Headers, fetch?: FetchLike): Transport {
  return new StreamableHTTPClientTransport(new URL('/mcp', url), {
    requestInit: { headers },
    ...(fetch && { fetch }),
  })
}

const Answered = v.object({
  content: v.tuple([v.object({ text: v.string() })]),
  structuredContent: v.record(v.string(), v.unknown()),
  isError: v.optional(v.boolean(), false),
})

const Failed = v.object({
  error: v.object({ code: v.string(), message: v.string(), field: v.optional(v.string()) }),
})

/** Calls a tool that answers, and returns the answer. */
export async function ask(client: Client, name: string, given: Record<string, unknown>) {
  const { content, structuredContent, isError } = v.parse(
    Answered,
    await client.callTool({ name, arguments: given }),
  )
  assert.equal(isError, false, content[0].text)
  assert.deepEqual(JSON.parse(content[0].text), structuredContent)
  return structuredContent
}

/** Calls a tool that fails, and returns the error. */
export async function askInVain(client: Client, name: string, given: Record<string, unknown>) {
  const { content, structuredContent, isError } = v.parse(
    Answered,
    await client.callTool({ name, arguments: given }),
  )
  assert.equal(isError, true, content[0].text)
  const { error } = v.parse(Failed, structuredContent)
  assert.equal(content[0].text, `${error.code}: ${error.message}`)
  return error
}
