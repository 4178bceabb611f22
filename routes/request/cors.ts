import type { Operation } from '../../lib/contract/operation.ts'
import type { Headers } from './respond.ts'

const EXPOSED = 'X-Request-Id, RateLimit-Policy, RateLimit, Retry-After, Not-Included'
const PREFLIGHT_SECONDS = '86400'

/** Headers that scripts for tracing add to the requests of a page. */
const TRACING = [
  ...['traceparent', 'tracestate', 'baggage'], // W3C: OpenTelemetry and others
  ...['sentry-trace', 'newrelic', 'elastic-apm-traceparent', 'uber-trace-id', 'X-Amzn-Trace-Id'],
  ...['b3', 'X-B3-TraceId', 'X-B3-SpanId', 'X-B3-ParentSpanId', 'X-B3-Sampled', 'X-B3-Flags'], // Zipkin
  ...[
    'x-datadog-trace-id',
    'x-datadog-parent-id',
    'x-datadog-origin',
    'x-datadog-sampling-priority',
  ],
  ...['Request-Id', 'Request-Context', 'X-Correlation-Id', 'X-Cloud-Trace-Context'], // Azure, Google
]

/** The value of Access-Control-Allow-Headers. */
export function allowedHeaders(more: readonly string[]): string {
  return [
    'X-API-Key',
    'Authorization',
    'Content-Type',
    'X-Request-Id',
    'Idempotency-Key',
    ...more,
    ...TRACING,
  ].join(', ')
}

const ALLOWED = allowedHeaders([])

/**
 * Whether pages of `MERIDIAN_CORS_ORIGINS` may call the operation: inquiries, and all operations that are
 * neither look-ups nor public.
 */
export function isForListedOrigins({ access, limit }: Operation): boolean {
  return limit === 'contact' || (access !== 'public' && access !== 'geo:read')
}

/** Whether pages of all origins may call the operation: look-ups, public reads and beacons. */
function isForBrowsers(row: Operation): boolean {
  const { access, method } = row
  return access === 'geo:read' || (access === 'public' && method === 'get') || isBeacon(row)
}

function isBeacon({ limit }: Operation): boolean {
  return limit === 'beacon'
}

/**
 * CORS headers of an answer; null if it has none. `allowedOrigin` is the origin that the caller's key or
 * the configuration allows. Any page may read public data and errors, such as 401: neither depends on
 * credentials that a browser adds. Answers without these headers need no `Vary`, since no answer may be
 * stored.
 */
export function corsHeaders(
  row: Operation | undefined,
  status: number,
  allowedOrigin: string | null,
): Headers | null {
  const isPublic = row?.access === 'public' && row.method === 'get'
  if (isPublic || (status >= 400 && allowedOrigin === null)) return FOR_ALL
  if (allowedOrigin === null) return null
  return {
    'access-control-allow-origin': allowedOrigin,
    'access-control-expose-headers': EXPOSED,
    vary: 'Origin',
  }
}

/**
 * Headers of an answer to a page of a registered origin. `sendBeacon` always sends credentials, which
 * the service ignores. Cross-origin isolated pages accept only answers that allow embedding.
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
 * Headers of the answer to a preflight. A preflight carries no key, so every origin may look up
 * addresses here; the origin is checked when the request itself arrives. `listed` are the origins of
 * `MERIDIAN_CORS_ORIGINS`.
 */
export function preflightHeaders(
  rows: readonly Operation[],
  origin: string | undefined,
  listed: readonly string[],
): Headers {
  const isListed = origin !== undefined && listed.includes(origin)
  const allowed = rows.filter((row) => isForBrowsers(row) || (isListed && isForListedOrigins(row)))
  if (origin === undefined || allowed.length === 0) return {}
  const methods = new Set(allowed.map(({ method }) => method.toUpperCase()))
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-methods': [...methods].join(', '),
    'access-control-allow-headers': ALLOWED,
    'access-control-max-age': PREFLIGHT_SECONDS,
    ...(allowed.some(isBeacon) && { 'access-control-allow-credentials': 'true' }),
    vary: 'Origin',
  }
}
