import type { Context } from 'hono'
import type { Operation } from '../../lib/contract/operation.ts'
import { operations } from '../../lib/contract/operations.ts'
import { ApiError } from '../../lib/parts/errors.ts'
import type { Services } from '../../lib/services/services.ts'
import type { Env } from '../context.ts'
import { preflightHeaders } from './cors.ts'
import { answer, answerError, type Exchange, openExchange } from './exchange.ts'
import { chargeAddress, chargePreflight } from './limit.ts'
import type { Answer, Headers } from './respond.ts'

/**
 * Answers requests that match no operation: preflights, unsupported methods, unknown paths. The
 * router calls it last. Mounting it on each path would slow down the handlers there.
 */
export function answerUnmatched(services: Services, c: Context<Env>): Answer {
  const rows = rowsAt(c.req.path)
  if (rows.length === 0) {
    const error = new ApiError('NOT_FOUND', 'No such path; /docs lists all')
    return refuse(services, openExchange(services, c, { path: c.req.path }), error)
  }
  const preflight = preflightHeaders(rows, c.req.header('origin'), services.config.corsOrigins)
  return refuseMethod(services, c, { allow: allowedMethods(rows), preflight })
}

interface RefusedMethod {
  /** The name of the path in the log. */
  readonly route?: string
  /** The Allow header; by default that of a read-only path. */
  readonly allow?: string
  /** Additional headers of the answer to OPTIONS. */
  readonly preflight?: Readonly<Headers>
}

/** Answers a method that the path does not support: 204 to OPTIONS, else 405. */
export function refuseMethod(
  services: Services,
  c: Context<Env>,
  { route, allow = 'GET, HEAD, OPTIONS', preflight }: RefusedMethod,
): Answer {
  const exchange = openExchange(services, c, { route, path: c.req.path })
  if (c.req.method === 'OPTIONS') {
    // Browsers ask so before the requests of a page with a publishable key. Refusing would cost as much as an
    // answer, and refuse visitors who share an address.
    chargePreflight(services, exchange)
    return answer(services, exchange, { status: 204, json: null, headers: { allow, ...preflight } })
  }
  const message = `${route ?? c.req.path} answers ${allow}, not ${c.req.method}`
  const error = new ApiError('METHOD_NOT_ALLOWED', message, { headers: { allow } })
  return refuse(services, exchange, error)
}

/** Whether the request has a credential does not matter: it has not been checked. */
function refuse(services: Services, exchange: Exchange, error: ApiError): Answer {
  try {
    chargeAddress(services, exchange, 'strangers')
    throw error
  } catch (refused) {
    return answerError(services, exchange, refused)
  }
}

const PATTERNS = operations.map((row: Operation) => ({
  row,
  pattern: new RegExp(`^${row.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

function rowsMatching(path: string): Operation[] {
  return PATTERNS.filter(({ pattern }) => pattern.test(path)).map(({ row }) => row)
}

/** The rows with exactly this path or, if there are none, all that match: `/v1/ip/me` also matches `/v1/ip/{ipAddress}`. */
function rowsAt(path: string): Operation[] {
  const matching = rowsMatching(path)
  const own = matching.filter((row) => row.path === path)
  return own.length > 0 ? own : matching
}

/** The methods that the path does not answer, but a path with a parameter that matches it. */
export function methodsOfOthers(path: string): string[] {
  const own = rowsAt(path).map(({ method }) => method)
  return rowsMatching(path)
    .filter(({ method }) => !own.includes(method))
    .map(({ method }) => method.toUpperCase())
}

function allowedMethods(rows: readonly Operation[]): string {
  const methods = new Set(rows.map(({ method }) => method.toUpperCase()))
  if (methods.has('GET')) methods.add('HEAD')
  return [...methods, 'OPTIONS'].join(', ')
}
