import type { components } from './generated/openapi.ts'

type ApiError = components['schemas']['ApiError']

/**
 * What went wrong: a code of the API, or one of this client. `NETWORK_ERROR`: the service could not be
 * reached, or the connection broke. `TIMEOUT`: it did not answer in time. `UNEXPECTED_ANSWER`: the answer
 * is not the service's, for example a page of a proxy.
 */
export type ErrorCode =
  | ApiError['error']['code']
  | 'NETWORK_ERROR'
  | 'TIMEOUT'
  | 'UNEXPECTED_ANSWER'

export interface MeridianErrorOptions extends ErrorOptions {
  readonly status: number
  readonly code: ErrorCode
  readonly requestId?: string | undefined
  readonly retryAfter?: number | undefined
}

/** A call that failed. */
export class MeridianError extends Error {
  override readonly name = 'MeridianError'
  /** The HTTP status; 0 without an answer. */
  readonly status: number
  /** Stable; the message may change. */
  readonly code: ErrorCode
  /** Finds the request in the log of the service. */
  readonly requestId: string | undefined
  /** Seconds after which the service may answer. */
  readonly retryAfter: number | undefined

  constructor(message: string, options: MeridianErrorOptions) {
    super(message, options)
    this.status = options.status
    this.code = options.code
    this.requestId = options.requestId
    this.retryAfter = options.retryAfter
  }
}

/** The error in an answer whose JSON is `body`; undefined: it is not JSON. */
export function toError(response: Response, body: unknown, now: number): MeridianError {
  const { status, headers } = response
  const common = {
    status,
    requestId: headers.get('X-Request-Id') ?? undefined,
    retryAfter: readRetryAfter(headers.get('Retry-After'), now),
  }
  if (!isApiError(body)) {
    return new MeridianError(describeForeign(response), { ...common, code: 'UNEXPECTED_ANSWER' })
  }
  const { code, message } = body.error
  return new MeridianError(message, { ...common, code })
}

/** Browsers hide the status of redirects. */
function describeForeign({ status, type }: Response): string {
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return 'The service redirects: the url must be the address to which it does'
  }
  return `The answer is not one of Meridian: status ${status}`
}

/** Whether the JSON of an answer is an error of the API. */
export function isApiError(body: unknown): body is ApiError {
  if (typeof body !== 'object' || body === null || !('error' in body)) return false
  const { error } = body
  return typeof error === 'object' && error !== null && 'code' in error && 'message' in error
}

/** Seconds from a number or a date (RFC 9110, 10.2.3). */
function readRetryAfter(text: string | null, now: number): number | undefined {
  if (text === null) return undefined
  if (/^\d+$/.test(text)) return Number(text)
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : Math.max(0, Math.ceil((time - now) / 1000))
}
