import type { Context, Hono } from 'hono'
import * as v from 'valibot'
import { unauthorized } from '../../lib/access/authenticate.ts'
import { DOCS_PATH, MCP_PATH } from '../../lib/contract/pages.ts'
import type { AskApi } from '../../lib/mcp/api-request.ts'
import { TOOLS } from '../../lib/mcp/tools.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { once } from '../../lib/parts/once.ts'
import { parseJson, refuseEncoding } from '../../lib/parts/parse.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import { instanceOf, servePage } from '../pages/page.ts'
import { isUnauthorized } from '../request/admit.ts'
import { allowedHeaders } from '../request/cors.ts'
import {
  answerError,
  type Exchange,
  logExchange,
  openExchange,
  toAnswer,
} from '../request/exchange.ts'
import { charge } from '../request/limit.ts'
import { setLimitHeaders } from '../request/limit-headers.ts'
import { type Answer, type Headers as HeaderMap, toResponse } from '../request/respond.ts'
import { admitAndCharge, readBodyInQueue } from '../request/serve.ts'
import { refuseMethod } from '../request/unmatched.ts'
import { type Api, type Call, openCall, performWithin, textOf } from '../request/within.ts'

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
export function mountMcp(app: Hono<Env>, api: Api): void {
  const { services } = api
  app.post(MCP_PATH, async (c) => toResponse(await serveMcp(api, c)))
  app.get(MCP_PATH, (c, next) => (isBrowser(c) ? showGuide(services, c) : next()))
  app.all(MCP_PATH, (c) => {
    const preflight = preflightHeaders(services, c.req.header('origin'))
    const refused = { route: MCP_PATH, allow: 'POST, OPTIONS', preflight }
    return toResponse(refuseMethod(services, c, refused))
  })
}

/** Clients of the protocol ask by GET for text/event-stream, and must get 405 where there is none. */
function isBrowser({ req }: Context<Env>): boolean {
  return /\btext\/html\b/.test(req.header('accept') ?? '')
}

/** Leads a person who opens the address to the guide, which says what it is for. */
function showGuide(services: Services, c: Context<Env>): Promise<Response> {
  const location = `${instanceOf(services).base}${DOCS_PATH}/guides/assistants`
  const redirect = { status: 303, html: null, headers: { location } }
  return servePage(services, c, MCP_PATH, async () => redirect)
}

async function serveMcp(api: Api, c: Context<Env>): Promise<Answer> {
  const { services } = api
  const exchange = openExchange(services, c, { route: MCP_PATH })
  const headers = originHeaders(services, c.req.header('origin'))
  try {
    if (!isAllowedOrigin(services, c.req.header('origin'))) {
      throw new ApiError('ORIGIN_NOT_ALLOWED', 'Pages of this origin may not use the service')
    }
    const message = await readMessage(services, c, exchange)
    const { called, ...content } = await answerMessage({ api, c, exchange }, message)
    logExchange(services, { ...exchange, caller: called?.caller ?? null }, content.status)
    return toAnswer(exchange, { ...content, headers: { ...headers, ...limitsOf(called) } })
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
  refuseEncoding(c.req.header('content-encoding'))
  const bytes = await readBodyInQueue(services, { body: MESSAGE, limit: 'none' }, exchange, c)
  try {
    // safe: `MESSAGE` is raw
    return parseJson(bytes as Uint8Array)
  } catch {
    return undefined
  }
}

interface Place {
  readonly api: Api
  readonly c: Context<Env>
  readonly exchange: Exchange
}

interface Answered {
  readonly status: number
  readonly json: string | null
  /** The operation that the message has called; undefined if none. */
  readonly called: Call | undefined
}

/**
 * The call of a tool is charged and counted as the same request to the API. All other messages, and calls that
 * call no operation, are charged as requests without a key.
 */
async function answerMessage(place: Place, message: unknown): Promise<Answered> {
  const { api, c, exchange } = place
  const { services } = api
  const isCall = v.is(ToolCall, message)
  if (!isCall) charge(services, exchange)
  if (message === undefined) throw new ApiError('BAD_REQUEST', 'The body is not JSON')
  const protocol = await loadProtocol()
  const { ask, asked } = createAsk(place)
  const onError = (error: unknown) =>
    services.log.error({ requestId: exchange.requestId, err: error }, 'unexpected error')
  const response = await protocol.answerMessage(withoutBody(c.req.raw), withoutNulls(message), () =>
    protocol.createToolServer(TOOLS, { ask, onError }),
  )
  const { called, isRefused } = asked()
  if (isRefused) throw unauthorized()
  if (isCall && called === undefined) charge(services, exchange)
  const text = await response.text()
  if (response.status >= 500) throw new Error(`The protocol failed: ${text}`)
  return { status: response.status, json: text === '' ? null : text, called }
}

/** `asked` says which operation was called, and whether its credential was refused. */
function createAsk({ api, c, exchange }: Place) {
  let called: Call | undefined
  let isRefused = false
  const ask: AskApi = async ({ row, ...given }) => {
    const call = openCall(api.services, exchange, row)
    called = call
    const admit = () => admitAndCharge(api.services, row, c, call)
    try {
      const acceptLanguage = c.req.header('accept-language')
      const reply = await performWithin(api, call, { ...given, acceptLanguage }, admit)
      return { status: reply.status, text: textOf(reply) }
    } catch (error) {
      isRefused = isUnauthorized(error)
      throw error
    }
  }
  return { ask, asked: () => ({ called, isRefused }) }
}

/**
 * The request as the protocol's library takes it. It refuses clients that accept only JSON, though all answers are
 * JSON, and the header of 2025-03-26, though requests without it are of that revision.
 */
function withoutBody({ url, headers: given, signal }: Request): Request {
  const headers = new Headers(given)
  if (ACCEPTABLE.test(headers.get('accept') ?? '')) headers.set('accept', BOTH)
  if (headers.get(VERSION_HEADER) === '2025-03-26') headers.delete(VERSION_HEADER)
  return new Request(url, { method: 'POST', headers, signal })
}

const ALLOWED = allowedHeaders(['MCP-Protocol-Version', 'Mcp-Method', 'Mcp-Name'])
/** An empty header says nothing, like none. */
const ACCEPTABLE = /^[\s,]*$|application\/(?:json|\*)|text\/(?:event-stream|\*)|\*\/\*/i
const BOTH = 'application/json, text/event-stream'
const VERSION_HEADER = 'mcp-protocol-version'

/**
 * The message without members that stand for nothing: clients write `null` for absent values, and PHP `[]` for an
 * object without members.
 */
function withoutNulls(message: unknown): unknown {
  if (!v.is(WithParams, message)) return message
  const { params, ...others } = message
  if (isNothing(params)) return others
  if (!v.is(Members, params)) return message
  const own = without(params, isNothing)
  const given = own['arguments']
  if (!v.is(Members, given)) return { ...others, params: own }
  return { ...others, params: { ...own, arguments: without(given, (value) => value === null) } }
}

const WithParams = v.looseObject({ params: v.unknown() })
const Members = v.record(v.string(), v.unknown())

function without(members: v.InferOutput<typeof Members>, isLeftOut: (value: unknown) => boolean) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => !isLeftOut(value)))
}

function isNothing(value: unknown): boolean {
  return value === null || (Array.isArray(value) && value.length === 0)
}

/** What is left of the limit that the call has charged. */
function limitsOf(called: Call | undefined): HeaderMap {
  const headers: HeaderMap = {}
  if (called !== undefined && called.charge !== null) setLimitHeaders(headers, called.charge)
  return headers
}

/**
 * Whether the request is from a program, which names no origin, or from a page of this service or of an
 * origin in `MERIDIAN_CORS_ORIGINS`. The protocol demands this check, against pages that reach a server
 * on their visitor's machine by DNS rebinding (Model Context Protocol, “Streamable HTTP”, section 1).
 */
function isAllowedOrigin(
  { baseUrl, config: { corsOrigins } }: Services,
  origin: string | undefined,
): boolean {
  if (origin === undefined) return true
  return origin === new URL(baseUrl()).origin || corsOrigins.includes(origin)
}

/** Lets a page of an allowed origin read the answer. */
function originHeaders(services: Services, origin: string | undefined): HeaderMap {
  if (origin === undefined || !isAllowedOrigin(services, origin)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'X-Request-Id, RateLimit-Policy, RateLimit',
    vary: 'Origin',
  }
}

/** Headers of the answer to a preflight; none for origins that are not allowed. */
function preflightHeaders(services: Services, origin: string | undefined): HeaderMap {
  if (origin === undefined || !isAllowedOrigin(services, origin)) return {}
  return {
    ...originHeaders(services, origin),
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': ALLOWED,
    'access-control-max-age': '86400',
  }
}
