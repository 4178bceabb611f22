import type { Operation } from '../lib/contract/operation.ts'
import type { Headers } from './respond.ts'

const EXPOSED = 'X-Request-Id, RateLimit-Policy, RateLimit, Retry-After'
const PREFLIGHT_SECONDS = '86400'

/** Whether pages of other origins may call it: look-ups, what is public to read, and beacons. */
function isForBrowsers(row: Operation): boolean {
  const { access, method } = row
  return access === 'geo:read' || (access === 'public' && method === 'get') || isBeacon(row)
}

function isBeacon({ limit }: Operation): boolean {
  return limit === 'beacon'
}

/**
 * CORS headers of an answer; null: none. `allowedOrigin` is the one that the caller's key allows.
 * Answers without them need no `Vary`, since none may be stored.
 */
export function corsHeaders(row: Operation, allowedOrigin: string | null): Headers | null {
  if (row.access === 'public') return row.method === 'get' ? FOR_ALL : null
  if (allowedOrigin === null) return null
  return {
    'access-control-allow-origin': allowedOrigin,
    'access-control-expose-headers': EXPOSED,
    vary: 'Origin',
  }
}

/**
 * Headers of an answer to a page of a registered origin. `sendBeacon` always sends credentials,
 * which nothing here reads; a page that isolates itself lets in what says that it may be embedded.
 */
export function beaconHeaders(origin: string): Headers {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': EXPOSED,
    'cross-origin-resource-policy': 'cross-origin',
    vary: 'Origin',
  }
}

const FOR_ALL = { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED }

/**
 * Answer to a preflight, which carries no key: any origin may ask, and is refused or not by the
 * answer to the request itself.
 */
export function preflightHeaders(rows: readonly Operation[], origin: string | undefined): Headers {
  const allowed = rows.filter(isForBrowsers)
  if (origin === undefined || allowed.length === 0) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': allowed.map(({ method }) => method.toUpperCase()).join(', '),
    'access-control-allow-headers': 'X-API-Key, Authorization, Content-Type, X-Request-Id',
    'access-control-max-age': PREFLIGHT_SECONDS,
    ...(allowed.some(isBeacon) && { 'access-control-allow-credentials': 'true' }),
    vary: 'Origin',
  }
}
