import type { Services } from '../../lib/services/services.ts'
import type { Headers } from '../request/respond.ts'

/**
 * Whether the request is from a program, which names no origin, or from a page of this service or of an
 * origin in `MERIDIAN_CORS_ORIGINS`. The protocol demands this check, against pages that reach a server
 * on their visitor's machine by DNS rebinding (Model Context Protocol, “Streamable HTTP”, section 1).
 */
export function isAllowedOrigin(
  { baseUrl, config: { corsOrigins } }: Services,
  origin: string | undefined,
): boolean {
  if (origin === undefined) return true
  return origin === new URL(baseUrl()).origin || corsOrigins.includes(origin)
}

/** Lets a page of an allowed origin read the answer. */
export function originHeaders(services: Services, origin: string | undefined): Headers {
  if (origin === undefined || !isAllowedOrigin(services, origin)) return {}
  return {
    'access-control-allow-origin': origin,
    'access-control-expose-headers': 'X-Request-Id, RateLimit-Policy, RateLimit',
    vary: 'Origin',
  }
}

/** Headers of the answer to a preflight; none for origins that are not allowed. */
export function preflightHeaders(services: Services, origin: string | undefined): Headers {
  if (origin === undefined || !isAllowedOrigin(services, origin)) return {}
  return {
    ...originHeaders(services, origin),
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers':
      'X-API-Key, Authorization, Content-Type, X-Request-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name',
    'access-control-max-age': '86400',
  }
}
