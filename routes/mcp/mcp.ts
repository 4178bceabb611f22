import type { Context, Hono } from 'hono'
import * as v from 'valibot'
import { unauthorized } from '../../lib/access/authenticate.ts'
import { MCP_PATH } from '../../lib/contract/pages.ts'
import { ApiError } from '../../lib/errors.ts'
import type { ApiRequest } from '../../lib/mcp/api-request.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { once } from '../../lib/once.ts'
import { parseJson } from '../../lib/parse.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import type { Fetch } from '../dashboard/request/send-api.ts'
import { answer, answerError, type Exchange, openExchange } from '../request/exchange.ts'
import { charge } from '../request/limit.ts'
import { type Answer, type Headers, toResponse } from '../request/respond.ts'
import { readBodyInQueue } from '../request/serve.ts'
import { refuseMethod } from '../request/unmatched.ts'
import { isAllowedOrigin, originHeaders, preflightHeaders } from './origin.ts'
import { createSendToApi } from './send-to-api.ts'

/** The body of a request: a message of at most these bytes, enough for the longest list of addresses. */
const MESSAGE = { schema: v.unknown(), example: null, raw: true, maxBytes: 600_000 } as const

const ToolCall = v.object({ method: v.literal('tools/call') })

/** Loads the protocol on first use: it takes memory that a server without assistants need not spend. */
const loadProtocol = once(async () => {
  const { answerMessage } = await import('../../lib/mcp/answer-message.ts')
  const { createToolServer } = await import('../../lib/mcp/tool-server.ts')
  return { answerMessage, createToolServer }
})

/** Mounts the Model Context Protocol over streamable HTTP. It has neither sessions nor streams. */
export function mountMcp(app: Hono<Env>, services: Services): void {
  app.post(MCP_PATH, async (c) => toResponse(await serveMcp(app.fetch, services, c)))
  app.all(MCP_PATH, (c) => {
    const preflight = preflightHeaders(services, c.req.header('origin'))
    const refused = { route: MCP_PATH, allow: 'POST, OPTIONS', preflight }
    return toResponse(refuseMethod(services, c, refused))
  })
}

async function serveMcp(fetch: Fetch, services: Services, c: Context<Env>): Promise<Answer> {
  const exchange = openExchange(services, c, { route: MCP_PATH })
  const headers = originHeaders(services, c.req.header('origin'))
  try {
    if (!isAllowedOrigin(services, c.req.header('origin'))) {
      throw new ApiError('ORIGIN_NOT_ALLOWED', 'Pages of this origin may not use the service')
    }
    const message = await readMessage(services, c, exchange)
    const response = await answerMessage({ fetch, services, c, exchange }, message)
    return answer(services, exchange, { ...response, headers: { ...headers, ...response.headers } })
  } catch (error) {
    return answerError(services, exchange, error, headers)
  }
}

/** Returns undefined if the body is not JSON. */
async function readMessage(
  services: Services,
  c: Context<Env>,
  exchange: Exchange,
): Promise<unknown> {
  const bytes = await readBodyInQueue(services, { body: MESSAGE, limit: 'none' }, exchange, c)
  try {
    // safe: `MESSAGE` is raw
    return parseJson(bytes as Uint8Array)
  } catch {
    return undefined
  }
}

interface Place {
  readonly fetch: Fetch
  readonly services: Services
  readonly c: Context<Env>
  readonly exchange: Exchange
}

interface Answered {
  readonly status: number
  readonly json: string | null
  readonly headers: Headers
}

/**
 * The API charges a call of a tool for the request that it makes. All other messages, and calls that make no
 * request, are charged as requests without a key.
 */
async function answerMessage(place: Place, message: unknown): Promise<Answered> {
  const { fetch, services, c, exchange } = place
  const isCall = v.is(ToolCall, message)
  if (!isCall) charge(services, exchange)
  if (message === undefined) throw new ApiError('BAD_REQUEST', 'The body is not JSON')
  const protocol = await loadProtocol()
  const sendToApi = createSendToApi(fetch, services, c, exchange)
  let called: Response | undefined
  const send = async (request: ApiRequest) => {
    called = await sendToApi(request)
    return called
  }
  const onError = (error: unknown) =>
    services.log.error({ requestId: exchange.requestId, err: error }, 'unexpected error')
  const response = await protocol.answerMessage(withoutBody(c.req.raw), message, () =>
    protocol.createToolServer(TOOLS, { send, onError }),
  )
  if (called?.status === 401) throw unauthorized()
  if (isCall && called === undefined) charge(services, exchange)
  const text = await response.text()
  if (response.status >= 500) throw new Error(`The protocol failed: ${text}`)
  return { status: response.status, json: text === '' ? null : text, headers: limitsOf(called) }
}

function withoutBody({ url, headers, signal }: Request): Request {
  return new Request(url, { method: 'POST', headers, signal })
}

/** What is left of the limit that the API has charged. */
function limitsOf(called: Response | undefined): Headers {
  const names = called === undefined ? [] : ['ratelimit-policy', 'ratelimit']
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = called?.headers.get(name) ?? null
      return value === null ? [] : [[name, value]]
    }),
  )
}
