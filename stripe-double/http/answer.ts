import Stripe from 'stripe'
import { newId } from '../ids.ts'

export interface Answer {
  readonly status: number
  readonly body: object
  /** Set if this repeats an earlier answer to the same idempotency key. */
  readonly replayed?: true
}

export function toResponse({ status, body, replayed }: Answer): Response {
  const headers = {
    'content-type': 'application/json',
    'request-id': newId('req', 14),
    'stripe-version': Stripe.API_VERSION,
    ...(replayed === true && { 'idempotent-replayed': 'true' }),
  }
  return new Response(JSON.stringify(body, null, 2), { status, headers })
}

/** Stripe's message for a restricted key. */
const NOT_PERMITTED =
  "The provided key 'rk_test_*' does not have the required permissions for this endpoint on account 'acct_double'. Having the 'rak_customer_read' permission would allow this request to continue."

const INJECTED_ERRORS = {
  403: { type: 'invalid_request_error', message: NOT_PERMITTED },
  429: { type: 'invalid_request_error', code: 'rate_limit', message: 'Too many requests' },
  500: { type: 'api_error', message: 'An unknown error occurred' },
}

/** The answer of an injected fault. */
export function injected(kind: '403' | '429' | '500'): Answer {
  return { status: Number(kind), body: { error: INJECTED_ERRORS[kind] } }
}

export function unrecognized(method: string, path: string): Answer {
  const message = `Unrecognized request URL (${method}: ${path}). The double does not know it.`
  return { status: 404, body: { error: { type: 'invalid_request_error', message } } }
}
