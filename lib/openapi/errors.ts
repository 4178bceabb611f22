import { errorCodes, type Operation } from './contract/operation.ts'
import { ERROR_STATUS, type ErrorCode } from './errors.ts'

/** What each code says in general; an answer may be more precise. */
const MESSAGES = {
  BAD_REQUEST: 'The request is malformed or a value in it is not valid',
  SITE_EXISTS: 'This site is registered already',
  ALREADY_SUBSCRIBED: 'There is an active subscription already',
  PAYMENT_FAILED: 'The payment was declined',
  UNAUTHORIZED: 'A valid API key is required',
  FORBIDDEN: 'This key may not do that',
  INSUFFICIENT_SCOPE: 'This key lacks the scope that the operation needs',
  ORIGIN_NOT_ALLOWED: 'Requests from this origin are not allowed',
  ANONYMOUS_ACCESS: 'This look-up needs an API key',
  PLAN_CAP_EXCEEDED: 'The monthly cap of the plan is exceeded',
  PLAN_REQUIRED: 'The plan does not include this',
  KEY_LIMIT_REACHED: 'The plan allows no more keys',
  SITE_LIMIT_REACHED: 'The plan allows no more sites',
  BOT_VERIFICATION_FAILED: 'The bot check was not passed',
  NOT_FOUND: 'There is no such thing, or it is not yours',
  NO_ACTIVE_SUBSCRIPTION: 'There is no active subscription',
  NO_BILLING_ACCOUNT: 'There is no billing account',
  METHOD_NOT_ALLOWED: 'The path does not answer this method',
  REQUEST_TIMEOUT: 'The request came too slowly',
  PAYLOAD_TOO_LARGE: 'The body is too large',
  RATE_LIMITED: 'Too many requests',
  HEADERS_TOO_LARGE: 'Request line and headers are too large',
  INTERNAL: 'Internal error',
  SERVICE_UNAVAILABLE: 'A part of the service that this needs is not available',
  AUTH_UNAVAILABLE: 'The auth service cannot be reached',
  BILLING_NOT_CONFIGURED: 'No payment processor is configured',
  BILLING_UNAVAILABLE: 'The payment processor cannot be reached',
} as const satisfies Record<ErrorCode, string>

/** Reads as one line of Markdown: the code and what it says. */
export function describeError(code: ErrorCode): string {
  return `\`${code}\`: ${MESSAGES[code]}`
}

/** The codes that the row may answer, in alphabetical order, by status. */
export function errorsByStatus(row: Operation): Map<number, ErrorCode[]> {
  return Map.groupBy(errorCodes(row).sort(), (code) => ERROR_STATUS[code])
}

/** One example for each code that any of the rows may answer. */
export function errorExamples(rows: readonly Operation[]): Record<string, object> {
  const codes = new Set(rows.flatMap(errorCodes))
  return Object.fromEntries([...codes].sort().map((code) => [code, toExample(code)]))
}

function toExample(code: ErrorCode): object {
  const error = { code, message: MESSAGES[code] }
  const meta = { requestId: '6f6b1d3e-56c6-4a08-8a0c-9d3a6a3a5a01' }
  return { summary: MESSAGES[code], value: { error, meta } }
}
