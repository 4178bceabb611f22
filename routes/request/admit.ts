import {
  authenticateKey,
  authenticateSession,
  authorizeKey,
  authorizeSession,
  type Caller,
  readKeyText,
  withoutCredential,
} from '../../lib/access/authenticate.ts'
import type { SessionUser } from '../../lib/access/find-session.ts'
import { hashToken } from '../../lib/access/session-token.ts'
import { findSimilar } from '../../lib/config/did-you-mean.ts'
import { fieldNames } from '../../lib/contract/field-paths.ts'
import type { Body, Operation } from '../../lib/contract/operation.ts'
import { ApiError, fieldError } from '../../lib/parts/errors.ts'
import { type Message, parse, parseJson, readBytes, refuseEncoding } from '../../lib/parts/parse.ts'
import type { Services } from '../../lib/services/services.ts'
import type { HeadContext, RequestContext } from '../context.ts'
import type { Exchange } from './exchange.ts'
import { addressId, chargeAddress, tooManySessions } from './limit.ts'

export const MAX_BODY_BYTES = 16 * 1024

/** Returns the caller, or null if the operation is public. Throws if the caller is not admitted. */
export async function admit(
  services: Services,
  row: Operation,
  c: HeadContext,
  exchange: Exchange,
) {
  if (row.access === 'public') return null
  if (readKeyText((name) => c.req.header(name)) !== undefined) {
    return admitKey(services, row, c, exchange)
  }
  return admitSession(services, row, c, exchange)
}

/** What it takes to admit a key. */
export type KeyParts = Pick<Services, 'baseUrl' | 'keys' | 'limits' | 'now' | 'requestCounts'>

/** Returns the caller that the API key identifies. A bad key is charged to the client's address. */
export function admitKey(
  services: KeyParts,
  row: Operation,
  c: HeadContext,
  exchange: Exchange,
): Caller {
  const readHeader = (name: string) => c.req.header(name)
  const key = getKey(services, readHeader, exchange)
  const counter = services.requestCounts.findCounter(key.userId, key.id)
  exchange.requestCounter = counter
  const caller = authorizeKey(services, key, readHeader, row)
  counter.use(exchange.now)
  return caller
}

function getKey(
  services: KeyParts,
  readHeader: Parameters<typeof authenticateKey>[1],
  exchange: Exchange,
) {
  try {
    // Not the time at which the request began: the key may have been revoked while its body arrived.
    return authenticateKey(services, readHeader, services.now())
  } catch (error) {
    if (isUnauthorized(error)) chargeAddress(services, exchange, 'failures')
    throw error
  }
}

async function admitSession(
  services: Services,
  row: Operation,
  c: HeadContext,
  exchange: Exchange,
): Promise<Caller> {
  const authorization = c.req.header('authorization')
  if (authorization === undefined) {
    chargeAddress(services, exchange, 'strangers')
    throw withoutCredential(row)
  }
  const user = await verifySession(services, exchange, authorization)
  exchange.requestCounter = services.requestCounts.findCounter(user.id, null)
  return authorizeSession(services, user, row)
}

/**
 * Returns the user of the session. A bad session is charged to the client's address only after it was looked
 * up, so that bad ones do not lock out good ones behind the same address. While too many sessions of an
 * address wait to be looked up, those that were not used lately are refused.
 */
export async function verifySession(
  services: Services,
  exchange: Exchange,
  authorization: string,
): Promise<SessionUser> {
  const { client, now } = exchange
  const find = () => authenticateSession(services, authorization, now, client?.address.text)
  const credential = hashToken(authorization)
  try {
    const user = await services.sessionQueues.run(addressId(exchange), credential, find)
    if (user === null) throw tooManySessions()
    return user
  } catch (error) {
    if (isUnauthorized(error)) chargeAddress(services, exchange, 'failures')
    throw error
  }
}

export function isUnauthorized(error: unknown): boolean {
  return error instanceof ApiError && error.code === 'UNAUTHORIZED'
}

/** Parses the query. Refuses parameters that are misspelt or given twice: a value would be ignored. */
export function readQuery(
  { query }: Operation,
  req: Pick<RequestContext['req'], 'query' | 'queries'>,
): unknown {
  if (query === undefined) return undefined
  const names = fieldNames(query)
  const given = Object.entries(req.queries())
  for (const [name] of given) if (!names.includes(name)) refuseMisspelt(name, names)
  const parsed: unknown = parse(query, req.query())
  for (const [name, { length }] of given) {
    if (length > 1 && names.includes(name)) {
      throw fieldError(name, 'must be given once')
    }
  }
  return parsed
}

/** Parameters of others, such as those that statistics append to links, are ignored. */
function refuseMisspelt(name: string, names: readonly string[]): void {
  const similar = findSimilar(name, names)
  if (similar === undefined) return
  throw fieldError(name, `is unknown, did you mean ${similar}?`)
}

export async function readBody(body: Body, c: RequestContext): Promise<unknown> {
  const { raw, maxBytes = MAX_BODY_BYTES } = body
  if (raw === true) return readBytes(messageOf(c), maxBytes)
  refuseEncoding(c.req.header('content-encoding'))
  return parseBody(body, await readBytes(messageOf(c), maxBytes))
}

/** Throws BAD_REQUEST unless the bytes are a body of the operation, in JSON. */
export function parseBody({ schema, isOptional }: Body, bytes: Uint8Array): unknown {
  return parse(schema, isOptional === true && bytes.length === 0 ? {} : parseJson(bytes))
}

/** The headers and the body of a request, which can be read once. */
export function messageOf({ env, req: { method, raw } }: RequestContext): Message {
  const { headers } = raw
  if (method === 'GET' || method === 'HEAD') return { headers, body: null }
  return { headers, body: env?.readBody === undefined ? raw.body : env.readBody() }
}

/** Returns the headers that the row names. */
export function readHeaders({ headers }: Operation, c: HeadContext): unknown {
  if (headers === undefined) return undefined
  return Object.fromEntries(Object.keys(headers).map((name) => [name, c.req.header(name)]))
}
