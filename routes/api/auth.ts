import type { Context, Hono } from 'hono'
import { bearerOf } from '../../lib/access/authenticate.ts'
import { findChallenged } from '../../lib/accounts/second-factor/challenge.ts'
import {
  type AccountLimit,
  type AddressLimit,
  AUTH_REQUESTS,
  type AuthRequest,
} from '../../lib/contract/account/auth.ts'
import { AUTH_BASE_PATH } from '../../lib/contract/pages.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import { parse, parseJson, readText, refuseEncoding } from '../../lib/parts/parse.ts'
import type { QueuedClient } from '../../lib/parts/task-queue.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import { MAX_BODY_BYTES, messageOf } from '../request/admit.ts'
import { answerError, type Exchange, logExchange, openExchange } from '../request/exchange.ts'
import { addressId, charge, chargeUser, reserve } from '../request/limit.ts'
import { setLimitHeaders } from '../request/limit-headers.ts'
import { baseHeaders, toResponse } from '../request/respond.ts'
import { refuseMethod } from '../request/unmatched.ts'

type HandleAuth = NonNullable<Services['handleAuth']>

/** Mounts the endpoints of better-auth, such as sign-up. It defines their bodies and errors. */
export function mountAuth(app: Hono<Env>, services: Services, handle: HandleAuth): void {
  for (const row of AUTH_REQUESTS) {
    const route = `${AUTH_BASE_PATH}${row.path}`
    app.on(row.method, route, async (c) => {
      const exchange = openExchange(services, c, { route })
      try {
        const response = await performAuth({ services, handle }, row, exchange, inputOf(c))
        logExchange(services, exchange, response.status)
        return await withOurHeaders(response, exchange)
      } catch (error) {
        return toResponse(answerError(services, exchange, error))
      }
    })
  }
  for (const [path, rows] of Map.groupBy(AUTH_REQUESTS, (row) => row.path)) {
    const route = `${AUTH_BASE_PATH}${path}`
    const methods = rows.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
    const refused = { route, allow: [...methods, 'OPTIONS'].join(', ') }
    app.all(route, (c) => toResponse(refuseMethod(services, c, refused)))
  }
}

/** What is given to an endpoint: by a request, or by a form of the dashboard. */
interface AuthInput {
  readonly headers: Headers
  /** The query with its `?`; '' if there is none. */
  readonly search: string
  /** null if there is none. Read once the limit is charged. */
  readonly readBody: () => Promise<string | null>
  readonly signal: AbortSignal
  readonly app: 'api' | 'dashboard'
  /** Tokens of the visitor's browser, from lib/access/sign-in/known-devices.ts. */
  readonly devices: string
}

function inputOf(c: Context<Env>): AuthInput {
  const { raw, url } = c.req
  const message = messageOf(c)
  return {
    headers: raw.headers,
    search: new URL(url).search,
    readBody: async () => {
      if (message.body === null) return null
      refuseEncoding(raw.headers.get('content-encoding'))
      return readText(message, MAX_BODY_BYTES)
    },
    signal: raw.signal,
    app: 'api',
    devices: '',
  }
}

interface Auth {
  readonly services: Services
  readonly handle: HandleAuth
}

/** Has better-auth perform a request within its limits. Throws the ApiError to answer with instead. */
export async function performAuth(
  { services, handle }: Auth,
  row: AuthRequest,
  exchange: Exchange,
  input: AuthInput,
): Promise<Response> {
  const user = await findUser(services, row, input)
  if (user === null) charge(services, exchange)
  else chargeUser(services, exchange, 'account', user.id)
  const call = await readCall(row, input, exchange)
  const account = await accountOf(services, call, user)
  const refund = reserve(services, exchange, reservationsOf(exchange, row, account))
  const isKnown = account?.isKnown ?? false
  const id = isKnown ? account?.limitId : addressId(exchange)
  const waiter = { id, isKnown, signal: input.signal }
  const response = await callBetterAuth(services, row, waiter, () => handle(call)).catch(
    (error) => {
      if (error instanceof ApiError) refund(({ counts }) => counts !== undefined)
      throw error
    },
  )
  refund(({ counts = response.status }) => counts !== response.status)
  return response
}

/**
 * Calls better-auth; calls that hash passwords wait in a queue. Throws if the queue is full, the
 * client has left or the answer is 5xx.
 */
async function callBetterAuth(
  { passwordQueue }: Services,
  { hashes }: AuthRequest,
  client: QueuedClient,
  call: () => Promise<Response>,
): Promise<Response> {
  const response = await (hashes === true ? passwordQueue.run(call, client) : call())
  if (response === null || response.status === 503) {
    throw new ApiError('SERVICE_UNAVAILABLE', 'Sign-in is unavailable now; try again later')
  }
  if (response.status >= 500) throw new Error(`better-auth answered ${response.status}`)
  return response
}

/** The user of a live session, if the endpoint needs one. */
function findUser(
  { findSession, now }: Services,
  { needsSession }: AuthRequest,
  { headers }: AuthInput,
) {
  const token = bearerOf(headers.get('authorization'))
  return needsSession === true && token !== null ? findSession(token, now()) : null
}

/**
 * The account that a request names; null if it names none. `limitId` is the browser's own id if the
 * account knows the browser, else that of the account. `isKnown`: the account knows the browser, or
 * the request has a session.
 */
async function accountOf(
  { db, devices, now }: Services,
  { devices: tokens, given: { email, challenge } }: Awaited<ReturnType<typeof readCall>>,
  user: { readonly id: string } | null,
) {
  if (challenge !== undefined) {
    const challenged = await findChallenged(db, challenge, now())
    return challenged && { id: challenged.id, limitId: challenged.id, isKnown: false }
  }
  if (email === undefined)
    return user === null ? null : { id: user.id, limitId: user.id, isKnown: true }
  const limitId = await devices.limitId(email, tokens)
  return { id: email, limitId, isKnown: limitId !== email }
}

/** The endpoint's limits with their ids. Leaves out those per account if the request names none. */
function reservationsOf(
  exchange: Exchange,
  { limits = [] }: AuthRequest,
  account: Awaited<ReturnType<typeof accountOf>>,
) {
  const idOf = ({ of }: AccountLimit | AddressLimit) => {
    if (of === 'addressMails' || of === 'addressSignIns') return addressId(exchange)
    // A client with the password can register any number of browsers, so a limit per browser would not hold.
    return of === 'newSessions' ? account?.id : account?.limitId
  }
  return limits.flatMap((limit) => {
    const id = idOf(limit)
    return id === undefined ? [] : [{ ...limit, id }]
  })
}

/** Builds the path from the row: the client's own path could reach an endpoint that is not served. */
async function readCall(row: AuthRequest, input: AuthInput, { client }: Exchange) {
  const { headers, search, app, devices } = input
  const body = await input.readBody()
  const given = row.body === undefined ? {} : readGiven(row.body, headers, body ?? '')
  return {
    // HEAD is handled as GET.
    method: row.method,
    path: `${AUTH_BASE_PATH}${row.path}${search}`,
    headers,
    token: bearerOf(headers.get('authorization')),
    body,
    client: client === null ? null : client.address.text,
    app,
    devices,
    given,
  } as const
}

/**
 * better-auth also accepts forms. If the same bytes held one e-mail address as a form and another
 * as JSON, we would limit the wrong account.
 */
function readGiven(schema: NonNullable<AuthRequest['body']>, headers: Headers, body: string) {
  if (!/^application\/json\s*(;|$)/i.test(headers.get('content-type') ?? '')) {
    throw new ApiError('BAD_REQUEST', 'Send the body as application/json')
  }
  return parse(schema, parseJson(body))
}

async function withOurHeaders(response: Response, { requestId, charge: charged }: Exchange) {
  const headers = new Headers(response.headers)
  const ours = baseHeaders(requestId)
  if (charged !== null) setLimitHeaders(ours, charged)
  for (const [name, value] of Object.entries(ours)) headers.set(name, value)
  // No endpoint reads the cookies of better-auth.
  headers.delete('set-cookie')
  const text = await response.text()
  return new Response(text === '' ? null : text, { status: response.status, headers })
}
