/** Every code of an API error, with its HTTP status. */
export const ERROR_STATUS = {
  BAD_REQUEST: 400,
  SITE_EXISTS: 400,
  ALREADY_SUBSCRIBED: 400,
  PAYMENT_FAILED: 400,
  UNAUTHORIZED: 401,
  FORBIDDEN: 403,
  INSUFFICIENT_SCOPE: 403,
  ORIGIN_NOT_ALLOWED: 403,
  ANONYMOUS_ACCESS: 403,
  PLAN_CAP_EXCEEDED: 403,
  PLAN_REQUIRED: 403,
  KEY_LIMIT_REACHED: 403,
  SITE_LIMIT_REACHED: 403,
  EMAIL_NOT_VERIFIED: 403,
  BOT_VERIFICATION_FAILED: 403,
  NOT_FOUND: 404,
  NO_ACTIVE_SUBSCRIPTION: 404,
  NO_BILLING_ACCOUNT: 404,
  METHOD_NOT_ALLOWED: 405,
  REQUEST_TIMEOUT: 408,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  IDEMPOTENCY_KEY_REUSED: 422,
  RATE_LIMITED: 429,
  HEADERS_TOO_LARGE: 431,
  INTERNAL: 500,
  SERVICE_UNAVAILABLE: 503,
  AUTH_UNAVAILABLE: 503,
  BILLING_NOT_CONFIGURED: 503,
  BILLING_UNAVAILABLE: 503,
} as const

export type ErrorCode = keyof typeof ERROR_STATUS

/** The value that the caller looked up, echoed in the error body. */
export interface ErrorQuery {
  readonly type: string
  readonly value: string
}

export interface ApiErrorOptions extends ErrorOptions {
  readonly query?: ErrorQuery
  /** The part of the query, the body or the path that is wrong, such as `ips.3`. */
  readonly field?: string
  /** Sent with the answer, such as `Allow` with a 405. */
  readonly headers?: Readonly<Record<string, string>>
}

/** A failure whose code and message are safe to show to the caller. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly code: ErrorCode
  readonly query: ErrorQuery | undefined
  readonly field: string | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(code: ErrorCode, message: string, options: ApiErrorOptions = {}) {
    super(message, options)
    this.code = code
    this.query = options.query
    this.field = options.field
    this.headers = options.headers ?? {}
  }

  get status(): (typeof ERROR_STATUS)[ErrorCode] {
    return ERROR_STATUS[this.code]
  }
}

/** The error for a field whose value is wrong. `problem` goes on after its name: `must be a number`. */
export function fieldError(field: string, problem: string): ApiError {
  return new ApiError('BAD_REQUEST', `${field}: ${problem}`, { field })
}

/** The message of every 401: it must not reveal what is wrong with the credential. */
export const UNAUTHORIZED =
  'A valid API key or session is required: make a key at /app/keys, and send it as X-API-Key or as Authorization: Bearer'
