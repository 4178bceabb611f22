import Stripe from 'stripe'
import { newId } from '../ids.ts'

export interface Answer {
  readonly status: number
  readonly body: object
  /** What `Stripe-Should-Retry` says; undefined: no such header. */
  readonly shouldRetry?: boolean | undefined
  /** Set if this repeats an earlier answer to the same idempotency key. */
  readonly replayed?: true
}

export function toResponse({ status, body, shouldRetry, replayed }: Answer): Response {
  const headers = {
    'content-type': 'application/json',
    'request-id': newId('req', 14),
    'stripe-version': Stripe.API_VERSION,
    ...(shouldRetry !== undefined && { 'stripe-should-retry': String(shouldRetry) }),
    ...(replayed === true && { 'idempotent-replayed': 'true' }),
  }
  return new Response(JSON.stringify(body, null, 2), { status, headers })
}

/** Stripe's message for a restricted key. */
const NOT_PERMITTED =
  "The provided key 'rk_test_*' does not have the required permissions for this endpoint on account 'acct_double'. Having the 'rak_customer_read' permission would allow this request to continue."

const INJECTED = {
  '403': {
    status: 403,
    error: { type: 'invalid_request_error', message: NOT_PERMITTED },
  },
  '429': {
    status: 429,
    error: { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests' },
  },
  locked: {
    status: 429,
    error: {
      type: 'invalid_request_error',
      code: 'lock_timeout',
      message:
        'This object cannot be accessed right now because another API request or Stripe process is currently accessing it.',
    },
    shouldRetry: true,
  },
  '500': {
    status: 500,
    error: { type: 'api_error', message: 'An unknown error occurred' },
  },
} as const

/** The answer of an injected fault. `shouldRetry` replaces what Stripe usually advises. */
export function injected(kind: '403' | '429' | 'locked' | '500', shouldRetry?: boolean): Answer {
  const { status, error, ...usual } = INJECTED[kind]
  return { status, body: { error }, ...usual, ...(shouldRetry !== undefined && { shouldRetry }) }
}

export function unrecognized(method: string, path: string): Answer {
  const message = `Unrecognized request URL (${method}: ${path}). The double does not know it.`
  return { status: 404, body: { error: { type: 'invalid_request_error', message } } }
}
