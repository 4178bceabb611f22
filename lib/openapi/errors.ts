import { errorCodes, type Operation } from '../contract/operation.ts'
import { ERROR_STATUS, type ErrorCode } from '../parts/errors.ts'

/** The general meaning of each code; an actual message may be more specific. */
const MESSAGES = {
  BAD_REQUEST: 'The request is malformed or a value in it is not valid',
  SITE_EXISTS: 'The site is already registered',
  ALREADY_SUBSCRIBED: 'There is already an active subscription',
  PAYMENT_FAILED: 'The payment was declined',
  UNAUTHORIZED: 'No valid API key or session',
  FORBIDDEN: 'This request is not allowed',
  INSUFFICIENT_SCOPE: 'The key lacks the scope that the operation needs',
  ORIGIN_NOT_ALLOWED: 'Requests from this origin are not allowed',
  ANONYMOUS_ACCESS: 'This look-up needs an API key',
  PLAN_CAP_EXCEEDED: 'The monthly cap of the plan is exceeded',
  PLAN_REQUIRED: 'The plan does not include this',
  KEY_LIMIT_REACHED: 'The plan allows no more keys',
  SITE_LIMIT_REACHED: 'The plan allows no more sites',
  EMAIL_NOT_VERIFIED: 'The e-mail address of the user must be verified first',
  BOT_VERIFICATION_FAILED: 'The bot check failed',
  NOT_FOUND: 'Not found, or it belongs to someone else',
  NO_ACTIVE_SUBSCRIPTION: 'There is no active subscription',
  NO_BILLING_ACCOUNT: 'There is no billing account',
  METHOD_NOT_ALLOWED: 'The path does not support this method',
  REQUEST_TIMEOUT: 'The request took too long to arrive',
  PAYLOAD_TOO_LARGE: 'The body is too large',
  UNSUPPORTED_MEDIA_TYPE: 'The body is compressed or otherwise encoded',
  IDEMPOTENCY_KEY_REUSED: 'The idempotency key was used with another body',
  RATE_LIMITED: 'Too many requests',
  HEADERS_TOO_LARGE: 'The request line and headers are too large',
  INTERNAL: 'Internal error',
  SERVICE_UNAVAILABLE: 'A required part of the service is not available',
  AUTH_UNAVAILABLE: 'The auth service is unreachable',
  BILLING_NOT_CONFIGURED: 'Stripe is not configured',
  BILLING_UNAVAILABLE: 'Stripe is unreachable',
} as const satisfies Record<ErrorCode, string>

/** One line of Markdown: the code and its meaning. */
export function describeError(code: ErrorCode): string {
  return `\`${code}\`: ${meaningOf(code)}`
}

export function meaningOf(code: ErrorCode): string {
  return MESSAGES[code]
}

/** Error codes of the row in alphabetical order, grouped by status. */
export function errorsByStatus(row: Operation): Map<number, ErrorCode[]> {
  return Map.groupBy(errorCodes(row).sort(), (code) => ERROR_STATUS[code])
}

/** One example for each error code of the rows, and for HEADERS_TOO_LARGE: any request may get it. */
export function errorExamples(rows: readonly Operation[]): Record<string, object> {
  const codes = new Set<ErrorCode>([...rows.flatMap(errorCodes), 'HEADERS_TOO_LARGE'])
  return Object.fromEntries([...codes].sort().map((code) => [code, toExample(code)]))
}

function toExample(code: ErrorCode): object {
  const error = { code, message: MESSAGES[code] }
  const meta = { requestId: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01' }
  return { summary: MESSAGES[code], value: { error, meta } }
}
