import type { Operation } from '../lib/contract/operation.ts'
import type { Headers } from './respond.ts'

const EXPOSED = 'X-Request-Id, RateLimit-Policy, RateLimit, Retry-After'
const PREFLIGHT_SECONDS = '86400'

/** Whether pages of other origins may call the operation: look-ups, and what is public to read. */
function isForBrowsers({ access, method }: Operation): boolean {
  return access === 'geo:read' || (access === 'public' && method === 'get')
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
    vary: 'Origin',
  }
}
